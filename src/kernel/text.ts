/** The longest status message, in characters (architecture defaults). */
export const STATUS_MESSAGE_CHARS = 200;

const ESCAPE_SEQUENCES =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
const SECRETS = [
  /\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi,
  /\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(?:sk|pk|rk|ghp|gho|ghs|xox[abp])[-_][A-Za-z0-9_-]{10,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\b(password|passwd|secret|token|api[_-]?key)\b(\s*[=:]\s*)("[^"]*"|'[^']*'|\S+)/gi,
  /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@:]+:[^\s/@]+@/gi,
];

/** Masks what looks like a credential. A net under the rule that secrets are never put into text at all. */
export function maskSecrets(text: string): string {
  return SECRETS.reduce((masked, pattern) => masked.replace(pattern, '[redacted]'), text);
}

/** Takes out escape sequences, bidi and zero-width tricks; other controls become spaces. Tab and newline stay. */
export const stripControls = (text: string): string =>
  text.replace(ESCAPE_SEQUENCES, '').replace(INVISIBLE, '').replace(CONTROLS, ' ');

/**
 * Text from a peer or a handler, made safe to show: no escape sequences, controls, bidi or zero-width tricks, no
 * credentials, at most `maxChars` characters. It stays untrusted: it is shown, never interpreted.
 */
export function safeText(text: string, maxChars: number = STATUS_MESSAGE_CHARS): string {
  const clean = maskSecrets(stripControls(text.slice(0, maxChars * 8))).trim();
  const chars = Array.from(clean);
  return chars.length <= maxChars ? clean : `${chars.slice(0, maxChars - 1).join('')}…`;
}
