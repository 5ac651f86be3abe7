/** The last character there is: no id that begins with a prefix sorts after the prefix and this. */
const LAST_CHARACTER = '\u{10ffff}';

/** The range of ids that begin with a prefix, compared byte by byte. */
export const idRange = (idPrefix: string) => ({
  idFrom: idPrefix,
  idTo: `${idPrefix}${LAST_CHARACTER}`,
});
