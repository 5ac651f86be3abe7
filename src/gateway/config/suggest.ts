/** Edits (insert, delete, replace, swap of neighbours) between two short words. */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const swapped =
        row > 1 &&
        column > 1 &&
        from[row - 1] === to[column - 2] &&
        from[row - 2] === to[column - 1];
      current[column] = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [before, above] = [above, current];
  }
  return above[to.length] ?? 0;
}

const plain = (word: string): string => word.toLowerCase().replaceAll(/[-_\s]/g, '');

/** The known word that was probably meant, or nothing where none is near. */
export function suggest(word: string, known: readonly string[]): string | undefined {
  const wanted = plain(word).slice(0, 64);
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(wanted, plain(candidate)) }))
    .toSorted((a, b) => a.distance - b.distance);
  const [best] = ranked;
  if (!best || best.distance > Math.max(1, Math.floor(wanted.length / 3))) return undefined;
  return best.candidate;
}

/** ` (did you mean "x"?)`, or nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const meant = suggest(word, known);
  return meant === undefined ? '' : ` (did you mean "${meant}"?)`;
}
