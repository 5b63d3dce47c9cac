#!/usr/bin/env node
/**
 * Writes windows and prices of models, `packages/model-catalog/data/models.json`, from LiteLLM's list `model_prices_and_context_window.json` (MIT):
 * `node scripts/write-model-data.mjs FILE_OR_ADDRESS VERSION`. VERSION is that of the list, as it is recorded with the data. The Python package `litellm`
 * carries the list as `litellm/model_prices_and_context_window_backup.json`. Only text models of families in `packages/model-catalog/src/families/table.ts` are kept.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bareId, withoutRelease } from '../packages/model-catalog/src/families/model-id.ts';
import { matchPieces } from '../packages/model-catalog/src/families/patterns.ts';
import { table } from '../packages/model-catalog/src/families/table.ts';

const [from, version] = process.argv.slice(2);
if (!from || !version) throw new Error('usage: node scripts/write-model-data.mjs FILE_OR_ADDRESS VERSION_OF_THE_LIST');
const list = JSON.parse(/^https?:/.test(from) ? await (await fetch(from)).text() : readFileSync(from, 'utf8'));

/** Where a model's own vendor offers it. Clouds that resell it stand behind: their windows are often smaller. */
const vendors = {
  ...{ anthropic: 'anthropic', openai: 'openai', gemini: 'google', deepseek: 'deepseek', qwen_ai_platform: 'qwen', dashscope: 'qwen' },
  ...{ moonshot: 'moonshot', zai: 'zai', minimax: 'minimax', mistral: 'mistral', meta_llama: 'meta', xai: 'xai', cohere_chat: 'cohere' },
};
const resellers = ['vertex_ai-language-models', 'bedrock_converse', 'bedrock', 'azure'];
const providers = [...Object.keys(vendors), ...resellers];

const patterns = Object.entries(table).map(([pattern, { row }]) => ({ pieces: pattern.split('*'), vendor: row.vendor }));
const vendorOf = (id) => patterns.find(({ pieces }) => matchPieces(pieces, id))?.vendor;

/** Currency per token as a decimal text for a million tokens, without the noise of binary fractions. */
const perMillion = (cost) => (typeof cost === 'number' ? String(Number((cost * 1e6).toPrecision(9))) : undefined);
const withoutGaps = (fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** The prices of a request; with `suffix` those of one that is longer (`_above_200k_tokens`), or that is served in another tier (`_flex`). */
function pricesOf(entry, vendor, suffix = '') {
  const cost = (field) => perMillion(entry[`${field}${suffix}`]);
  return withoutGaps({
    input: cost('input_cost_per_token'),
    output: cost('output_cost_per_token'),
    cache_read: cost('cache_read_input_token_cost'),
    // Nothing for a write is what the list says of caches that nobody writes to knowingly.
    cache_write_5m: perMillion(entry[`cache_creation_input_token_cost${suffix}`] || undefined),
    cache_write_1h: perMillion(
      entry[`cache_creation_input_token_cost_above_1hr${suffix}`] ??
        entry[`cache_creation_input_token_cost_above_12hr${suffix}`] ??
        // The list's gap: an hour costs twice the input at this vendor, always.
        (vendor === 'anthropic' ? entry[`input_cost_per_token${suffix}`] * 2 || undefined : undefined),
    ),
    reasoning: cost('output_cost_per_reasoning_token'),
    audio_input: cost('input_cost_per_audio_token'),
    audio_output: cost('output_cost_per_audio_token'),
    image_input: cost('input_cost_per_image_token'),
    image_output: cost('output_cost_per_image_token'),
  });
}

const kinds = { reasoning: 'output', audio_input: 'input', audio_output: 'output', image_input: 'input', image_output: 'output' };
/** Without what costs the same as what it is a kind of: a tier that has no price of its own for it would keep this one. */
const withoutRepeats = (prices) => Object.fromEntries(Object.entries(prices).filter(([kind, price]) => prices[kinds[kind]] !== price));

/** The list has prices that rise with a request's length in two forms: a field for each threshold, or ranges of lengths. */
const rangesOf = (entry) => (Array.isArray(entry.tiered_pricing) ? [...entry.tiered_pricing].sort((one, other) => one.range[0] - other.range[0]) : []);

function tiersOf(entry, vendor) {
  const ranges = rangesOf(entry)
    .slice(1)
    .map((range) => ({ above_tokens: range.range[0], ...pricesOf(range, vendor) }));
  const thousands = Object.keys(entry).flatMap((field) => /^input_cost_per_token_above_(\d+)k_tokens$/.exec(field)?.[1] ?? []);
  return [...ranges, ...thousands.map((count) => ({ above_tokens: Number(count) * 1000, ...pricesOf(entry, vendor, `_above_${count}k_tokens`) }))].sort(
    (one, other) => one.above_tokens - other.above_tokens,
  );
}

/** Words of replies for tiers that one can call. Batches are calls of another kind. */
const serviceTiers = ['flex', 'priority', 'ultrafast'];

/** One vendor's faster tier is a factor on all its prices. */
function fastOf(entry, prices) {
  const factor = entry.provider_specific_entry?.fast;
  if (typeof factor !== 'number' || factor <= 0) return [];
  const dearer = Object.entries(prices).map(([kind, price]) => [kind, String(Number((Number(price) * factor).toPrecision(9)))]);
  return [{ service_tier: 'fast', ...Object.fromEntries(dearer) }];
}

/** Where the list has a gap: the step for long requests is as steep as in the standard tier. */
const scaled = (standard, own, base) =>
  Object.fromEntries(
    Object.entries(standard).flatMap(([kind, price]) =>
      own[kind] && Number(base[kind]) > 0 ? [[kind, String(Number(((Number(price) * Number(own[kind])) / Number(base[kind])).toPrecision(9)))]] : [],
    ),
  );

/** Each tier once for all requests, and once for each length from which its prices rise. */
function serviceTiersOf(entry, vendor, prices, tiers) {
  const named = serviceTiers.flatMap((service_tier) => {
    const own = pricesOf(entry, vendor, `_${service_tier}`);
    if (!(Number(own.input) > 0 && Number(own.output) > 0)) return [];
    const longer = tiers.map(({ above_tokens, ...standard }) => {
      const priced = pricesOf(entry, vendor, `_above_${above_tokens / 1000}k_tokens_${service_tier}`);
      return { service_tier, above_tokens, ...(priced.input === undefined ? scaled(standard, own, prices) : priced) };
    });
    return [{ service_tier, ...own }, ...longer];
  });
  return [...named, ...fastOf(entry, prices)];
}

const count = (value) => (Number.isSafeInteger(Number(value)) && Number(value) > 0 ? Number(value) : undefined);

/**
 * What is read and written together. The list gives what may be read; of this vendor's models since gpt-5 that is the window less the reply
 * (272,000 of 400,000), of all others the window itself.
 */
function windowOf(vendor, id, input, output) {
  if (output === undefined) return input;
  const apart = vendor === 'openai' && /^gpt-[5-9]/.test(id) && input % 100_000 !== 0 && (input + output) % 50_000 === 0;
  return apart ? input + output : input;
}

function factsOf(vendor, id, entry) {
  const [input, said] = [count(entry.max_input_tokens), count(entry.max_output_tokens)];
  // The list repeats the window where it does not know how much a model writes.
  const output = input !== undefined && said !== undefined && said >= input ? undefined : said;
  const prices = withoutRepeats(pricesOf(rangesOf(entry)[0] ?? entry, vendor));
  const tiers = tiersOf(entry, vendor);
  const service_tiers = serviceTiersOf(entry, vendor, prices, tiers);
  // A price of nothing is a free trial or a gap in the list.
  const priced = Number(prices.input) > 0 && Number(prices.output) > 0;
  return withoutGaps({
    vendor,
    context: windowOf(vendor, id, input, output),
    output,
    prices: priced ? { ...prices, ...(tiers.length > 0 && { tiers }), ...(service_tiers.length > 0 && { service_tiers }) } : undefined,
    source: typeof entry.source === 'string' && entry.source.startsWith('https://') ? entry.source : undefined,
  });
}

const today = new Date().toISOString().slice(0, 10);
const found = new Map();
/** Ids that the list names: nothing else may stand for them. Those that a vendor has retired are kept, for clouds and servers that still run them. */
const listed = new Set();
for (const provider of providers) {
  for (const [name, entry] of Object.entries(list)) {
    if (entry.litellm_provider !== provider || !['chat', 'responses'].includes(entry.mode)) continue;
    // Ids with a region in front carry that region's surcharge; a fine-tuned model's price is none of the model's.
    if (/^(?:us-gov|us|eu|apac|jp|au|ca|in|global)[./]|ft:|commitment/.test(name) || /^(?:bedrock|azure)\/.+\//.test(name)) continue;
    const id = bareId(name);
    listed.add(id);
    const vendor = vendorOf(id);
    if (!vendor || found.has(id) || (vendors[provider] ?? vendor) !== vendor) continue;
    const facts = factsOf(vendor, id, entry);
    if (facts.context !== undefined || facts.prices) found.set(id, facts);
  }
}

/** Names that the list keeps at what they once meant. https://www.alibabacloud.com/help/en/model-studio/models (2026-11-22): qwen-plus has a window of a million. */
const stale = { 'qwen-plus': 'qwen-plus-2025-09-11', 'mistral-small': 'mistral-small-latest' };
for (const [id, release] of Object.entries(stale)) if (found.has(release)) found.set(id, found.get(release));

/** The id without its release stands for all releases that the list says the same of; where the list has none, for the latest of them. */
for (const [id, facts] of [...found].sort(([one], [other]) => Number(other.includes('latest')) - Number(one.includes('latest')) || (one < other ? 1 : -1))) {
  const stem = [...withoutRelease(id)].at(-1);
  if (stem.includes('-') && !found.has(stem) && !listed.has(stem)) found.set(stem, facts);
}
/** Whether a record says nothing that the other does not. The list forgets single prices of dated ids. */
function saysNoMore(one, other) {
  if (typeof one !== 'object' || typeof other !== 'object') return one === other;
  if (Array.isArray(one)) return one.every((each) => other.some((known) => saysNoMore(each, known)));
  return Object.keys(one).every((key) => key === 'source' || saysNoMore(one[key], other[key]));
}
const kept = [...found].filter(([id, facts]) => {
  const [, ...shorter] = withoutRelease(id);
  const nearest = shorter.find((each) => found.has(each));
  return !nearest || !saysNoMore(facts, found.get(nearest));
});
const sources = [...new Set(kept.flatMap(([, { source }]) => source ?? []))].sort();
const models = kept
  .sort(([one], [other]) => (one < other ? -1 : 1))
  .map(([id, { source, ...facts }]) => `    ${JSON.stringify(id)}: ${JSON.stringify({ ...facts, ...(source && { source: sources.indexOf(source) }) })}`);
const head = {
  list: 'https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json',
  license: 'MIT, Copyright (c) 2023 Berri AI',
  version,
  date: today,
  unit: 'USD for a million tokens',
};
writeFileSync(
  join(import.meta.dirname, '../packages/model-catalog/data/models.json'),
  `{\n${Object.entries(head)
    .map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`)
    .join('')}  "sources": ${JSON.stringify(sources)},\n  "models": {\n${models.join(',\n')}\n  }\n}\n`,
);
