/** A user's plain connection to the server, for suites that try what the bus itself would never do. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { connectionOptions } from '../src/nats/connection-options.ts';

export interface RawConnection {
  connection: NatsConnection;
  /** What the server refused so far, in its own words. */
  refused: string[];
}

/** `url` holds the user's credentials. */
export async function connectRaw(url: string, name: string): Promise<RawConnection> {
  const connection = await connect(connectionOptions({ url, name }));
  const refused: string[] = [];
  const status = connection.status();
  void (async () => {
    for await (const one of status) if (one.type === 'error') refused.push(one.error.message);
  })();
  return { connection, refused };
}
