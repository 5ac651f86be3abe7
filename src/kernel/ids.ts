import type { Random } from './random.ts';

/** What an id names; the prefix is part of the id, so that a mix-up is visible in every log. */
export const ID_PREFIXES = {
  task: 'tsk_',
  operation: 'op_',
  attempt: 'att_',
  event: 'ev_',
  input: 'in_',
  boot: 'boot_',
  session: 'ses_',
  artifact: 'art_',
} as const;
export type IdKind = keyof typeof ID_PREFIXES;

/** 160 random bits: beyond guessing and enumeration (G2-18), and a task id doubles as a secret for anonymous callers. */
const ID_BYTES = 20;

/** A new id: prefix and base64url, so URL-safe, header-safe and free of any sequence or tenant (T41). */
export function newId(kind: IdKind, random: Random): string {
  return ID_PREFIXES[kind] + Buffer.from(random.bytes(ID_BYTES)).toString('base64url');
}

const ID_BODY = /^[A-Za-z0-9_-]{27}$/;

/** Whether `text` has the form of an id of that kind. Says nothing about its existence. */
export function isId(kind: IdKind, text: string): boolean {
  const prefix = ID_PREFIXES[kind];
  return text.startsWith(prefix) && ID_BODY.test(text.slice(prefix.length));
}
