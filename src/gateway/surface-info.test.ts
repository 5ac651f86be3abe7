import { expect, test } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { joinInfo, type Described } from './surface-info.ts';

const OWN = { name: 'longcall', version: '1.0.0' };

const described = (name: string, capabilities: JsonObject, instructions?: string): Described => ({
  name,
  document: {
    protocolVersion: '2025-11-25',
    transport: 'stdio',
    verdict: { kind: 'legacy' },
    serverInfo: { name: `${name}-server`, version: '2.0.0', websiteUrl: 'https://example.com' },
    capabilities,
    tools: [],
    ...(instructions === undefined ? {} : { instructions }),
  },
});

test('one upstream speaks for itself', () => {
  const info = joinInfo(
    [described('a', { tools: {}, tasks: {}, experimental: { x: {} } }, 'Do this.')],
    OWN,
  );
  expect(info).toEqual({
    serverInfo: { name: 'a-server', version: '2.0.0', websiteUrl: 'https://example.com' },
    instructions: 'Do this.',
    capabilities: { tools: { listChanged: true }, experimental: { x: {} } },
    extensions: {},
  });
});

test('several are joined under our name; tasks are our own affair', () => {
  const info = joinInfo(
    [
      described('a', { resources: { subscribe: true }, tasks: { list: {} } }, 'First.'),
      described('b', {
        resources: { subscribe: false },
        logging: {},
        extensions: { 'io.modelcontextprotocol/tasks': {}, 'com.example/ui': { a: 1 } },
      }),
      { name: 'c', document: undefined },
    ],
    OWN,
  );
  expect(info).toEqual({
    serverInfo: OWN,
    instructions: '# a\n\nFirst.',
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      logging: {},
    },
    extensions: { 'com.example/ui': { a: 1 } },
  });
});

test('an upstream that was never reached, or gave no name, leaves ours', () => {
  expect(joinInfo([{ name: 'a', document: undefined }], OWN).serverInfo).toEqual(OWN);
});
