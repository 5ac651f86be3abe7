/**
 * The name under which an upstream's tasks are kept. One that a whole data directory serves has the plain name of the
 * configuration. One that a window of a project brought along is told apart by it and by what it is:
 * `reports@<project>.<identity>`. Names of the configuration have neither `@` nor `.` in them.
 */
export interface ProjectMark {
  /** Stands for the folder that the window is about. */
  readonly project: string;
  /** Stands for command, arguments, working directory, environment and roots. */
  readonly identity: string;
}

export const markedUpstreamName = (name: string, { project, identity }: ProjectMark): string =>
  `${name}@${project}.${identity}`;

/** The configuration's name, for people and models. */
export const plainUpstreamName = (upstream: string): string => upstream.replace(/@.*$/s, '');

/** Whose window brought it; nothing where it belongs to the whole data directory. */
export const projectOfUpstream = (upstream: string): string | undefined =>
  /@(?<project>[^.]*)\./.exec(upstream)?.groups?.['project'];
