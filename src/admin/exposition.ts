/** One series of a metric: its labels and its value. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
  /** Appended to the name: `_bucket`, `_sum`, `_count` of a histogram. */
  readonly suffix?: string;
}

export interface MetricFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** Content type of the Prometheus text format. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const escapeLabel = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

function sampleLine(name: string, { labels = {}, value, suffix = '' }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}

/** The families in the Prometheus text format, version 0.0.4. */
export function expose(families: readonly MetricFamily[]): string {
  const lines = families.flatMap(({ name, type, help, samples }) => [
    `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
    `# TYPE ${name} ${type}`,
    ...samples.map((sample) => sampleLine(name, sample)),
  ]);
  return `${lines.join('\n')}\n`;
}
