import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findConfigFile } from './discover.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'longcall-discover-'));
  mkdirSync(join(root, 'repo/deep/deeper'), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (path: string): string => {
  const file = join(root, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, '');
  return file;
};
const find = (env: Record<string, string> = {}, configPath?: string) =>
  findConfigFile({
    cwd: join(root, 'repo/deep/deeper'),
    env: { HOME: join(root, 'home'), ...env },
    ...(configPath === undefined ? {} : { configPath }),
  });

test('the flag, then the variable, then the repository from here up, then the user', () => {
  expect(find()).toBeUndefined();
  const user = put('home/.config/longcall/config.yaml');
  expect(find()).toBe(user);
  mkdirSync(join(root, 'repo/.git'));
  const project = put('repo/longcall.yaml');
  expect(find()).toBe(project);
  const near = put('repo/deep/longcall.yaml');
  expect(find()).toBe(near);
  const named = put('named.yaml');
  expect(find({ LONGCALL_CONFIG: named })).toBe(named);
  expect(find({ LONGCALL_CONFIG: named }, '../longcall.yaml')).toBe(near);
  expect(find({ LONGCALL_CONFIG: '' })).toBe(near);
});

test('XDG_CONFIG_HOME moves the user’s own file', () => {
  const file = put('xdg/longcall/config.yaml');
  put('home/.config/longcall/config.yaml');
  expect(find({ XDG_CONFIG_HOME: join(root, 'xdg') })).toBe(file);
});

test('a file above the repository, or above a folder of no repository, chooses nothing', () => {
  put('longcall.yaml');
  put('repo/longcall.yaml');
  expect(find()).toBeUndefined();
  mkdirSync(join(root, 'repo/deep/.git'));
  expect(find()).toBeUndefined();
});

test('in no repository the file of this very folder counts', () => {
  const file = put('repo/deep/deeper/longcall.yaml');
  expect(find()).toBe(file);
});

test.each([
  ['--config', {}, 'absent.yaml'],
  ['LONGCALL_CONFIG', { LONGCALL_CONFIG: 'absent.yaml' }, undefined],
])('%s that names nothing is an error, never the next best', (what, env, flag) => {
  put('repo/deep/deeper/longcall.yaml');
  expect(() => find(env, flag)).toThrow(
    expect.objectContaining({ code: 'LONGCALL_CONFIG_NOT_FOUND' }),
  );
  expect(() => find(env, flag)).toThrow(what);
});
