/** A process of its own for suites that kill or stop one: `serve` answers streams, `open` keeps some open, `mute` answers no question. Arguments: role, NATS url. */
import { connectNatsBus } from '../src/index.ts';
import { quiet } from './support.ts';

const [role, url] = process.argv.slice(2);
const bus = await connectNatsBus({ url: url!, name: `child-${role}`, logger: quiet });

if (role === 'serve') {
  bus.serve({
    open: {
      'catalog.load': (_request, body, stream) => {
        stream.head({ revision: process.pid });
        if (body[0] === 0) return;
        // A stream that never ends, one small frame each 10 ms.
        const timer = setInterval(() => stream.data(new Uint8Array(100)), 10);
        stream.onCancel(() => clearInterval(timer));
      },
    },
  });
} else if (role === 'mute') {
  // Takes every question and answers none.
  bus.serve({ ask: { 'catalog.revision': () => new Promise(() => {}) } });
} else {
  const open = (mode: number) => {
    const call = bus.open(
      'catalog.load',
      {},
      { head: () => {}, data: (bytes) => call.consumed(bytes.length), tail: () => {}, broken: () => {} },
      { body: Uint8Array.of(mode) },
    );
  };
  bus.onConnection((connected) => {
    if (!connected) return;
    // One that stays open, one whose tail is never acknowledged.
    open(0);
    open(1);
  });
}
setTimeout(() => process.stdout.write('ready\n'), 600);
// Nobody's child: a suite that died must not leave this behind.
process.stdin.resume().on('end', () => process.exit(0));
