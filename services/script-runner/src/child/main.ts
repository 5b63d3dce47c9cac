/**
 * A slot's process: holds one isolate and answers one request at a time, on its standard input and output. It holds no secret, has an empty
 * environment, and gives up what rights it was started with; whatever a script breaks is this process alone.
 */
import process from 'node:process';
import { Answerer } from './answer.ts';
import { FrameReader, frame } from './frames.ts';
import type { SlotAnswer, SlotRequest, SlotSettings } from './messages.ts';

/** `nobody`, where the host started us as root. */
const nobody = 65_534;
const nothing = new Uint8Array();

const answerer = new Answerer(JSON.parse(process.argv[2] ?? '{}') as SlotSettings);
dropRights();
const reader = new FrameReader(({ json, bytes }) => {
  send({ begun: true }, nothing);
  const { answer, texts } = answerer.answer(json as SlotRequest, bytes);
  send(answer, texts);
  answerer.renew();
});
// A signal to the whole group is the host's to answer: it closes our input when it leaves.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.stdin.on('data', (chunk: Buffer) => reader.push(chunk));
process.stdin.on('end', () => process.exit(0));
// The host is gone: there is nobody to answer.
process.stdout.on('error', () => process.exit(1));
send({ ready: true }, nothing);

function send(answer: SlotAnswer, texts: Uint8Array): void {
  const [head, rest] = frame(answer, texts);
  process.stdout.write(head);
  if (rest.length > 0) process.stdout.write(rest);
}

function dropRights(): void {
  if (process.getuid?.() !== 0) return;
  process.setgroups?.([]);
  process.setgid?.(nobody);
  process.setuid?.(nobody);
}
