/** The rows as a page: what is refused, in which words, and from where we know it. */
import { judgeExample } from './examples.ts';
import type { VendorRule } from './rule.ts';
import { rules } from './rules/index.ts';

const cell = (text: string): string => text.trim().replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
/** Words are the vendor's: long ones are cut, the rest of them is in the code. */
const short = (text: string): string => (text.length <= 160 ? text : `${text.slice(0, 157)}…`);

function wordsOf(rule: VendorRule): string {
  const [example] = rule.refused;
  const refusal = example && judgeExample(rule, example).find(({ rule: id }) => id === rule.id);
  return refusal ? `${refusal.status} ${short(refusal.message)}` : '';
}

const sourceOf = ({ source, wordsUnverified }: VendorRule): string =>
  `${source.startsWith('https://') ? source.replace(/^(https:\/\/\S+)/, '<$1>') : source}${wordsUnverified ? '; words not verified' : ''}`;

/** Rows of one body that another protocol inherits are named once. */
export function writeTable(): string {
  const own = rules.filter(
    ({ id, source }, at) => rules.findIndex((other) => other.source === source && other.id.replace(/^[a-z_]+\./, '') === id.replace(/^[a-z_]+\./, '')) === at,
  );
  const lines = own.map((rule) => `| ${[rule.id, rule.what, `\`${wordsOf(rule).replaceAll('`', "'")}\``, sourceOf(rule), rule.date].map(cell).join(' | ')} |`);
  return ['| rule | what is refused | in which words | source | of |', '| --- | --- | --- | --- | --- |', ...lines, ''].join('\n');
}

const [begin, end] = ['<!-- rows -->\n', '<!-- end of rows -->'];

/** The page with the rows of today between its marks. */
export function withTable(page: string): string {
  const [head = '', rest = ''] = page.split(begin);
  return `${head}${begin}\n${writeTable()}\n${end}${rest.slice(rest.indexOf(end) + end.length)}`;
}
