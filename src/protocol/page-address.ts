import { stripControls } from '../kernel/invisible.ts';

const ADDRESS_CHARS_MAX = 2048;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Why nobody is sent to an address, if so (G1-51, G2-70, G1-60): a page that a person opens, shown as it is, without
 * credentials of anybody in it. Says nothing of the address itself.
 */
export function pageAddressProblem(url: unknown): string | undefined {
  const parsed = typeof url === 'string' ? URL.parse(url) : null;
  if (parsed === null || typeof url !== 'string') return 'url must return an absolute URL';
  const plain = parsed.protocol === 'http:' && LOOPBACK.test(parsed.hostname);
  if (parsed.protocol !== 'https:' && !plain)
    return 'the page must be served over https (http is for loopback only)';
  if (parsed.username !== '' || parsed.password !== '')
    return 'the URL carries credentials: a page identifies its visitor itself';
  if (stripControls(url) !== url) return 'the URL has characters that cannot be seen';
  return parsed.href.length > ADDRESS_CHARS_MAX
    ? `the URL has more than ${ADDRESS_CHARS_MAX} characters`
    : undefined;
}
