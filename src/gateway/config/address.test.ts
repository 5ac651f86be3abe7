import { describe, expect, test } from 'vitest';
import { formatAddress, isLoopback, parseAddress, reachableNames } from './address.ts';

describe('host:port', () => {
  test.each([
    ['127.0.0.1:8787', '127.0.0.1', 8787],
    ['localhost:0', 'localhost', 0],
    ['[::1]:8787', '::1', 8787],
    ['[fe80::1]:65535', 'fe80::1', 65_535],
    ['gateway.example:80', 'gateway.example', 80],
  ])('%s', (text, host, port) => {
    expect(parseAddress(text)).toEqual({ host, port });
    expect(formatAddress({ host, port })).toBe(text);
  });

  test.each([
    '',
    '8787',
    ':8787',
    'localhost',
    'localhost:',
    'localhost:65536',
    'localhost:-1',
    '::1:8787',
    '[127.0.0.1]:1',
    '[::1]',
    'http://localhost:1',
    'a b:1',
    'localhost:1/mcp',
  ])('%j is none', (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });
});

test.each([
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['localhost', true],
  ['LOCALHOST', true],
  ['0.0.0.0', false],
  ['::', false],
  ['10.0.0.1', false],
  ['127.0.0.1.example', false],
  ['localhost.example', false],
  ['gateway.example', false],
])('%s is loopback: %s', (host, loopback) => {
  expect(isLoopback(host)).toBe(loopback);
});

test('an address that is listened on is a name for it, unless it stands for all of them', () => {
  expect(reachableNames({ host: '10.0.0.5', port: 1 }, ['a.example'])).toEqual([
    'a.example',
    '10.0.0.5',
  ]);
  expect(reachableNames({ host: 'fd00::5', port: 1 }, [])).toEqual(['[fd00::5]']);
  for (const host of ['0.0.0.0', '::'])
    expect(reachableNames({ host, port: 1 }, ['a.example'])).toEqual(['a.example']);
});
