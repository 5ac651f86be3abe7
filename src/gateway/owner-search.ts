import { UriTemplate } from '@modelcontextprotocol/client';
import { isJsonObject, stringAt, type JsonObject } from '../kernel/json.ts';
import type { Upstream } from './upstream.ts';

/** URIs that are remembered per upstream; a longer memory is no better than asking in order. */
const REMEMBERED_MAX = 10_000;

/** Which upstream a name or URI may belong to, the likeliest first. */
export interface OwnerSearch {
  /** Remembers what a page of a list shows. */
  learn(upstream: Upstream, method: string, result: JsonObject): void;
  /** The upstream has answered for this URI. */
  remember(uri: string, upstream: Upstream): void;
  /** Its lists have changed. */
  forget(upstream: Upstream): void;
  ofUri(uri: string): readonly Upstream[];
  /** By a prompt's name as callers know it. */
  ofPrompt(name: string): readonly Upstream[];
}

interface Memory {
  readonly uris: Set<string>;
  readonly templates: Set<string>;
  readonly prompts: Set<string>;
}

const emptyMemory = (): Memory => ({ uris: new Set(), templates: new Set(), prompts: new Set() });

const schemeOf = (uri: string): string => uri.slice(0, uri.indexOf(':') + 1);

function matches(template: string, uri: string): boolean {
  try {
    return new UriTemplate(template).match(uri) !== null;
  } catch {
    return false;
  }
}

function note(memory: Set<string>, items: unknown, member: string): void {
  if (!Array.isArray(items)) return;
  for (const item of items) {
    const value = isJsonObject(item) ? stringAt(item, member) : undefined;
    if (value !== undefined && memory.size < REMEMBERED_MAX) memory.add(value);
  }
}

export function createOwnerSearch(upstreams: readonly Upstream[]): OwnerSearch {
  const memories = new Map(upstreams.map((upstream) => [upstream, emptyMemory()]));
  const memoryOf = (upstream: Upstream): Memory => memories.get(upstream) ?? emptyMemory();
  const having = (capability: string): readonly Upstream[] =>
    upstreams.filter((upstream) => upstream.document()?.capabilities[capability] !== undefined);

  /** How likely it is that the upstream has this resource: the lower the likelier. */
  const rank = (upstream: Upstream, uri: string): number => {
    const { uris, templates } = memoryOf(upstream);
    if (uris.has(uri)) return 0;
    if (templates.has(uri) || Array.from(templates).some((template) => matches(template, uri)))
      return 1;
    const scheme = schemeOf(uri);
    return [...uris, ...templates].some((known) => schemeOf(known) === scheme) ? 2 : 3;
  };
  return {
    learn(upstream, method, result) {
      const memory = memoryOf(upstream);
      if (method === 'resources/list') note(memory.uris, result['resources'], 'uri');
      if (method === 'resources/templates/list')
        note(memory.templates, result['resourceTemplates'], 'uriTemplate');
      if (method === 'prompts/list') note(memory.prompts, result['prompts'], 'name');
    },
    remember: (uri, upstream) => note(memoryOf(upstream).uris, [{ uri }], 'uri'),
    forget: (upstream) => void memories.set(upstream, emptyMemory()),
    ofUri: (uri) => having('resources').toSorted((a, b) => rank(a, uri) - rank(b, uri)),
    ofPrompt(name) {
      const able = having('prompts').filter(({ options }) => name.startsWith(options.prefix));
      const knows = (upstream: Upstream): boolean =>
        memoryOf(upstream).prompts.has(name.slice(upstream.options.prefix.length));
      return able.toSorted(
        (a, b) =>
          Number(knows(b)) - Number(knows(a)) || b.options.prefix.length - a.options.prefix.length,
      );
    },
  };
}
