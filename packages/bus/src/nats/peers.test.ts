import { expect, test } from '@jest/globals';
import { Peers, type UnsettledStream } from './peers.ts';
import { mintStreamId, streamKey } from './stream-id.ts';
import { mintInbox } from './subjects.ts';

test('a tail that nobody acknowledged in time is lost, however many younger ones wait', () => {
  let now = 0;
  const inbox = mintInbox('edge');
  const peers = new Peers({
    get now() {
      return now;
    },
    inboxBytes: Buffer.from(mintInbox('translator')),
    publish: () => true,
  });
  const peer = peers.of(inbox)!;
  const lost: number[] = [];
  const tails = Array.from({ length: 100 }, (_, at): UnsettledStream => {
    const { number, salt } = mintStreamId();
    const key = streamKey(number, salt);
    const settle = (): void => {
      lost.push(at);
      peer.unsettled.delete(key);
    };
    const nothing = (): void => undefined;
    return { number, salt, key, sentFrames: 0, receivedFrames: 0, since: 0, lost: nothing, settlesBy: at, settle, cancelled: nothing };
  });
  for (const tail of tails) peer.unsettled.set(tail.key, tail);
  now = 49;
  peers.tick();
  expect(lost.sort((one, other) => one - other)).toEqual(Array.from({ length: 50 }, (_, at) => at));
});
