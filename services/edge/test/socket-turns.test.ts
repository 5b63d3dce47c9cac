/** Turns of a WebSocket as a translator gets them: which stored turn they go on from, and what the caller reads where it is not there. */
import { once } from 'node:events';
import { afterEach, expect, test } from '@jest/globals';
import type { Job } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { WebSocket } from 'ws';
import { sampleRow } from '../../../tests/support/bus-samples.ts';
import { bearer, callers, type Stage, startEdge, until } from './support.ts';

const [one] = callers;
const running: { stage: Stage; socket: WebSocket }[] = [];
afterEach(async () => {
  for (const { stage, socket } of running.splice(0)) {
    socket.terminate();
    await stage.stop();
  }
});

interface Frame {
  type: string;
  status?: number;
  error?: { code: string; param: string };
}

/** An edge before a translator that stores what it answers, and knows no turn of earlier connections. */
async function open() {
  const jobs: Job[] = [];
  const stage = await startEdge({
    run(job, stream) {
      jobs.push(job);
      const row = sampleRow(job.id);
      if (jobs.length === 3) return stream.tail({ row, error: new GatewayError('previous_response_not_found', { param: 'previous_response_id' }).toWire() });
      const response = { id: `resp_${jobs.length}`, object: 'response', status: 'completed', store: true, output: [{ type: 'message', role: 'assistant' }] };
      stream.head({ status: 200, headers: { 'content-type': 'text/event-stream' } });
      stream.data(Buffer.from(`event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response })}\n\n`));
      stream.tail({ row });
    },
  });
  const socket = new WebSocket(`${stage.url.replace('http', 'ws')}/v1/responses`, { headers: bearer(one) });
  running.push({ stage, socket });
  const frames: Frame[] = [];
  socket.on('message', (data) => void frames.push(JSON.parse(String(data))));
  await once(socket, 'open');
  const ask = async (frame: object): Promise<Frame | undefined> => {
    const before = frames.length;
    socket.send(JSON.stringify({ type: 'response.create', model: 'm', input: 'Hi', ...frame }));
    await until(() => frames.length > before, 'an answer');
    return frames.at(-1);
  };
  return { jobs, ask };
}

test('a turn that the connection remembers is repeated and named; one that it does not know is asked of the store', async () => {
  const { jobs, ask } = await open();
  expect(await ask({})).toMatchObject({ type: 'response.completed' });
  expect(jobs[0]?.socket).toEqual({});
  expect(await ask({ previous_response_id: 'resp_1' })).toMatchObject({ type: 'response.completed' });
  // What was asked, and what was answered.
  expect(jobs[1]?.socket).toEqual({ repeats: { turn: 'resp_1', items: 2 } });
  expect(await ask({ previous_response_id: 'resp_of_another_connection' })).toEqual({
    type: 'error',
    status: 400,
    error: { type: 'invalid_request_error', code: 'previous_response_not_found', message: expect.any(String), param: 'previous_response_id' },
  });
  expect(jobs[2]).toMatchObject({ socket: {}, places: { words: ['previous_response_id'] } });
});
