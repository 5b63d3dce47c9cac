/**
 * What a script costs: warm runs over 20 KB and 2 MB, with slots idle and busy, beside the empty transform. `node bench/scripts.ts`, about 20 seconds.
 * Wall is from the question to the answer in the runner's process (two pipes, no bus); inside is what the slot says of itself.
 */
import type { ScriptContext, ScriptOutcome } from '@model-gateway/contracts';
import { ScriptPool } from '@model-gateway/script-runner';
import { createLogger, createRedactor } from '@model-gateway/telemetry';

const bodyOf = (messages: number, size: number): Buffer =>
  Buffer.from(
    JSON.stringify({
      model: 'example',
      stream: false,
      messages: Array.from({ length: messages }, () => ({ role: 'user', content: 'word '.repeat(size / 5) })),
      top_p: 1,
    }),
  );
const bodies = { '20 KB': bodyOf(20, 1000), '2 MB, 200 messages': bodyOf(200, 10_000), '2 MB, 20,000 messages': bodyOf(20_000, 75) };
const scripts = {
  empty: 'function transform(body) { return body }',
  'three fields': 'function transform(body) { body.temperature = 0.2; body.metadata = { team: "a" }; delete body.top_p; return body }',
  'last message': 'function transform(body) { body.messages[body.messages.length - 1].content += " Be brief."; return body }',
  'every tenth message':
    'function transform(body) { for (let i = 0; i < body.messages.length && i < 9000; i += 10) if (body.messages[i].role === "system") body.x = i; return body }',
};
const context: ScriptContext = {
  clientModel: 'example',
  upstreamModel: 'example',
  upstreamName: 'up',
  sourceProtocol: '',
  targetProtocol: '',
  stream: false,
  headers: { 'user-agent': 'bench' },
  query: {},
  requestId: 'r',
  clientIp: '',
  accessKeyName: 'k',
  accessKeyGroup: 'g',
};

const warmUp = 40;
const turns = 60;
const logger = createLogger({ level: 'warn', name: 'bench', redactor: createRedactor() });

function ask(pool: ScriptPool, script: string, body: Buffer): Promise<{ outcome: ScriptOutcome; wall: number }> {
  const began = performance.now();
  return new Promise((resolve) => {
    pool.run({ owner: 'bench', request: { script, context, canSwitch: true }, body, done: (outcome) => resolve({ outcome, wall: performance.now() - began }) });
  });
}

/** Runs that keep all other slots at work until stopped. */
function keepBusy(pool: ScriptPool, slots: number): () => Promise<unknown> {
  let busy = true;
  const work = 'function transform(body) { let s = 0; for (let i = 0; i < 20000; i++) s += i; body.s = s; return body }';
  const lane = async (): Promise<void> => {
    while (busy) await ask(pool, work, bodies['20 KB']);
  };
  const lanes = Promise.all(Array.from({ length: slots - 1 }, lane));
  return () => {
    busy = false;
    return lanes;
  };
}

const lower = (figures: number[]): string => (figures.sort((a, b) => a - b)[Math.floor(figures.length / 4)] ?? 0).toFixed(2);

const slots = 4;
const pool = new ScriptPool({ slots, waitMs: 10_000, maxOperations: 1_000_000, memoryLimitMb: 64, timeoutMs: 5000, lazyBody: true }, logger);
process.stdout.write('| slots | body | script | wall ms | inside ms | back KB |\n| --- | --- | --- | --- | --- | --- |\n');
for (const busy of [false, true]) {
  const stop = busy ? keepBusy(pool, slots) : undefined;
  for (const [size, body] of Object.entries(bodies)) {
    for (const [name, script] of Object.entries(scripts)) {
      const walls: number[] = [];
      const insides: number[] = [];
      let fault: string | null = null;
      let back = 0;
      for (let turn = 0; turn < warmUp + turns; turn++) {
        const { outcome, wall } = await ask(pool, script, body);
        fault ??= outcome.fault?.message ?? null;
        back = (outcome.places ?? []).filter((_, at) => at % 3 === 2).reduce((sum, length) => sum + length, 0) / 1024;
        if (turn < warmUp) continue;
        walls.push(wall);
        insides.push(outcome.execution_time_ms);
      }
      process.stdout.write(
        `| ${busy ? 'busy' : 'idle'} | ${size} | ${name}${fault ? ` (${fault})` : ''} | ${lower(walls)} | ${lower(insides)} | ${back.toFixed(1)} |\n`,
      );
    }
  }
  await stop?.();
}
pool.close();
