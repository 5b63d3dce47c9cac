/** Streams between two other processes, whose frames this one passes on as they are. */
import { frameKind } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Deadline, Deadlines } from '../kit/deadlines.ts';
import { settleMs } from '../kit/limits.ts';
import type { Connection } from './connection.ts';
import { jsonOf } from './host.ts';
import { sendOpening, type WireOpening } from './streams.ts';
import { type WireFrame, wireKind } from './wire.ts';

/** One end of a relayed stream. */
interface End {
  connection: Connection;
  number: number;
}

interface Relayed extends Deadline {
  opener: End;
  server: End;
}

const errorFrame = wireKind.stream + frameKind.error;
const cancelFrame = wireKind.stream + frameKind.cancel;
const ackFrame = wireKind.stream + frameKind.ack;
const tailFrame = wireKind.stream + frameKind.tail;
const wholeFrame = wireKind.stream + frameKind.whole;

/** Forgets a stream with its error, its cancel or its acknowledgement; a tail that nobody acknowledges is kept as long as its callee keeps it. */
export class Relays {
  private readonly byConnection = new Map<Connection, Map<number, Relayed>>();
  private readonly deadlines: Deadlines;

  constructor(deadlines: Deadlines) {
    this.deadlines = deadlines;
  }

  begin(opener: End, to: Connection, opening: WireOpening, body: Uint8Array): void {
    const server = { connection: to, number: to.streams.mint() };
    const relayed: Relayed = { index: -1, endsAt: 0, opener, server, expire: () => this.forget(relayed) };
    for (const { connection, number } of [opener, server]) {
      const all = this.byConnection.get(connection) ?? new Map<number, Relayed>();
      this.byConnection.set(connection, all.set(number, relayed));
    }
    sendOpening(to, server.number, opening, body);
  }

  /** false: the stream is not between others. */
  forward(from: Connection, { kind, number, payload, marks }: WireFrame): boolean {
    const relayed = this.byConnection.get(from)?.get(number);
    if (!relayed) return false;
    const to = relayed.opener.connection === from && relayed.opener.number === number ? relayed.server : relayed.opener;
    to.connection.send(kind, to.number, payload, marks);
    if (kind === errorFrame || kind === cancelFrame || kind === ackFrame) this.forget(relayed);
    else if (kind === tailFrame || kind === wholeFrame) this.deadlines.add(settleMs, relayed);
    return true;
  }

  /** A process is gone: the other ends of its streams get an error or a cancellation. */
  lost(connection: Connection): void {
    const error = jsonOf(new GatewayError('service_lost').toWire());
    for (const relayed of [...(this.byConnection.get(connection)?.values() ?? [])]) {
      const { opener, server } = relayed;
      if (server.connection === connection) opener.connection.send(errorFrame, opener.number, error);
      else server.connection.send(cancelFrame, server.number, Buffer.from('the opener is gone'));
      this.forget(relayed);
    }
    this.byConnection.delete(connection);
  }

  private forget(relayed: Relayed): void {
    this.deadlines.delete(relayed);
    for (const { connection, number } of [relayed.opener, relayed.server]) this.byConnection.get(connection)?.delete(number);
  }
}
