/** The text of a tool result's first block; fails where the result says that it is an error, or is none. */
export function textOf(result: unknown): string {
  const { content, isError } = result as {
    content?: readonly { text?: unknown }[];
    isError?: boolean;
  };
  const text = content?.[0]?.text;
  if (isError === true || typeof text !== 'string')
    throw new Error(`not the result of a tool that did its work: ${JSON.stringify(result)}`);
  return text;
}
