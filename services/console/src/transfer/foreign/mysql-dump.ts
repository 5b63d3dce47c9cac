/** Tables of a dump that mysqldump or mariadb-dump wrote: those that are wanted with their rows, of all others how many rows there are. */

type Value = string | number | null;
type Row = Record<string, Value>;

const heads = /^-- (?:MySQL|MariaDB) dump|^INSERT (?:IGNORE )?INTO `|^\/\*M?!\d+/m;
/** So much of a text tells what it is. */
const headLength = 65_536;

export const isMysqlDump = (text: string): boolean => heads.test(text.slice(0, headLength)) && /`/.test(text);

const creations = /^CREATE TABLE (?:IF NOT EXISTS )?`([^`]+)` \(\r?\n([\s\S]*?)\r?\n\)/gm;
const insertion = /^INSERT (?:IGNORE )?INTO `([^`]+)`\s*(?:\(([^)]*)\)\s*)?VALUES\s*/gm;

/** Throws `SyntaxError`, in words that quote nothing of it, where the dump is cut or is not one. */
export function readMysqlDump(text: string, wanted: ReadonlySet<string>): Record<string, Row[] | string> {
  const columns = new Map([...text.matchAll(creations)].map(([, table = '', body = '']) => [table, namesIn(body, /^\s*`([^`]+)` /gm)]));
  const tables = new Map<string, Row[]>([...columns.keys()].map((table) => [table, []]));
  const counts = new Map<string, number>();
  insertion.lastIndex = 0;
  for (let found = insertion.exec(text); found; found = insertion.exec(text)) {
    const [, table = '', listed] = found;
    const names = listed === undefined ? columns.get(table) : namesIn(listed, /`([^`]+)`/g);
    const cursor = new Cursor(text, insertion.lastIndex);
    for (const values of cursor.tuples()) {
      counts.set(table, (counts.get(table) ?? 0) + 1);
      if (!wanted.has(table)) continue;
      if (names?.length !== values.length) throw new SyntaxError('has a row that does not fit the columns of its table');
      const rows = tables.get(table) ?? [];
      rows.push(Object.fromEntries(names.map((name, at) => [name, values[at] ?? null])));
      tables.set(table, rows);
    }
    // What follows is looked for behind the rows: their texts may say anything.
    insertion.lastIndex = cursor.at;
  }
  return Object.fromEntries([...tables].map(([table, rows]) => [table, wanted.has(table) ? rows : `${counts.get(table) ?? 0} rows`]));
}

const namesIn = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, name = '']) => name);

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', '0': '\0', Z: '\x1a' };

/** Reads `(value, …), (value, …);`. */
class Cursor {
  at: number;
  readonly #text: string;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  *tuples(): Generator<Value[]> {
    for (;;) {
      this.#expect('(');
      const values: Value[] = [];
      do values.push(this.#value());
      while (this.#take(','));
      this.#expect(')');
      yield values;
      if (!this.#take(',')) break;
    }
    this.#expect(';');
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text[this.at] ?? '')) this.at++;
  }

  #take(sign: string): boolean {
    this.#skipSpace();
    if (this.#text[this.at] !== sign) return false;
    this.at++;
    return true;
  }

  #expect(sign: string): void {
    if (!this.#take(sign)) throw new SyntaxError('is cut, or has a row that cannot be read');
  }

  #value(): Value {
    this.#skipSpace();
    // A text may begin with a character set, bits begin with `b`.
    const word = this.#match(/(?:_[a-z0-9]+\s*|b)?'/y);
    if (word !== null) {
      const text = this.#quoted();
      return word.startsWith('b') ? Number.parseInt(text, 2) : text;
    }
    const plain = this.#match(/NULL|0x[0-9A-Fa-f]+|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
    if (plain === null) throw new SyntaxError('has a value that cannot be read');
    if (plain === 'NULL') return null;
    return plain.startsWith('0x') ? Buffer.from(plain.slice(2), 'hex').toString('utf8') : Number(plain);
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const [found = null] = pattern.exec(this.#text) ?? [];
    if (found !== null) this.at += found.length;
    return found;
  }

  /** Behind the opening quote; a quote inside is doubled or escaped. */
  #quoted(): string {
    let said = '';
    for (;;) {
      const plain = this.#match(/[^'\\]+/y);
      if (plain !== null) said += plain;
      const sign = this.#text[this.at];
      if (sign === undefined) throw new SyntaxError('is cut in the midst of a text');
      const next = this.#text[this.at + 1] ?? '';
      if (sign === '\\') said += escapes[next] ?? next;
      else if (next === "'") said += "'";
      else {
        this.at++;
        return said;
      }
      this.at += 2;
    }
  }
}
