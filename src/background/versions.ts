/** Whether one version of the package is older than another; of `1.2.0-rc.1` and `1.2.0` the first is. */
export function isOlder(version: string, than: string): boolean {
  const [own, other] = [partsOf(version), partsOf(than)];
  const differing = own.numbers.findIndex((number, place) => number !== other.numbers[place]);
  if (differing >= 0) return (own.numbers[differing] ?? 0) < (other.numbers[differing] ?? 0);
  if (own.rest === other.rest) return false;
  return other.rest === '' || (own.rest !== '' && own.rest < other.rest);
}

function partsOf(version: string) {
  const [core = '', ...rest] = version.split('-');
  return { numbers: core.split('.').map(Number), rest: rest.join('-') };
}
