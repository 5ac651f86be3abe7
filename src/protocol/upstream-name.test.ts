import { expect, test } from 'vitest';
import { markedUpstreamName, plainUpstreamName, projectOfUpstream } from './upstream-name.ts';

test('a name that a window brought says whose it is, and reads like the configuration to people', () => {
  const name = markedUpstreamName('reports_2-x', { project: 'p1', identity: 'i1' });
  expect(name).toBe('reports_2-x@p1.i1');
  expect(projectOfUpstream(name)).toBe('p1');
  expect(plainUpstreamName(name)).toBe('reports_2-x');
});

test('a name of the configuration belongs to no project', () => {
  expect(projectOfUpstream('reports')).toBeUndefined();
  expect(plainUpstreamName('reports')).toBe('reports');
});
