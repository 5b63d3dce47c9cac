/** Sends one message to one channel: through the guarded dialer, small, never redirected. What the receiver answers is not quoted. */
import { createHmac } from 'node:crypto';
import type { Socket } from 'node:net';
import { type AlertChannelRecord, sealedAs } from '@model-gateway/contracts';
import type { AlertContent } from '@model-gateway/storage';
import { createTransport } from 'nodemailer';
import type { ConsoleContext } from '../context.ts';

/** A message on its way. */
export interface Outgoing {
  id: string;
  event: string;
  subject: string;
  createdAt: number;
  content: AlertContent;
}

/** Why a message was not taken; `terminal`: another try cannot help. */
export interface Undelivered {
  error: string;
  terminal: boolean;
  /** Some of its recipients have it: it is not sent again. */
  isPartial?: true;
}

/** `mailMs`: for all of a mail (tests). */
type Deps = Pick<ConsoleContext, 'outbound' | 'keyring'> & { mailMs?: number };
export type Channel = AlertChannelRecord;

const timeoutMs = 15_000;
/** For all of a mail: less than the claim on a message, so that no other console sends it meanwhile. */
const mailMs = 40_000;
/** Answers that ask for another try. */
const passing: ReadonlySet<number> = new Set([408, 425, 429]);

/** null: it was taken. */
export function deliver(channel: Channel, message: Outgoing, deps: Deps): Promise<Undelivered | null> {
  if (channel.kind === 'email') return sendMail(channel, message, deps);
  const url = open(channel, 'url', channel.sealed_url, deps);
  if (url === null) return Promise.resolve({ error: 'the address of the webhook cannot be opened', terminal: true });
  const body = channel.kind === 'slack' ? slackBody(message) : webhookBody(message);
  const secret = open(channel, 'secret', channel.sealed_secret, deps);
  const headers = {
    'content-type': 'application/json',
    'x-gateway-message-id': message.id,
    'x-gateway-event': message.event,
    ...(secret !== null && { 'x-gateway-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` }),
  };
  return post(url, Buffer.from(body, 'utf8'), headers, deps);
}

function open({ id }: Channel, field: 'url' | 'secret' | 'password', sealed: string | null, { keyring }: Deps): string | null {
  try {
    return sealed === null ? null : keyring.open(sealed, sealedAs.alertChannel(id, field));
  } catch {
    return null;
  }
}

const webhookBody = ({ id, event, subject, createdAt, content: { title, text, data } }: Outgoing): string =>
  JSON.stringify({ id, event, subject, title, text, occurred_at: new Date(createdAt).toISOString(), data });

/** Slack reads `&`, `<` and `>` as markup. */
const plain = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const slackBody = ({ content: { title, text } }: Outgoing): string => JSON.stringify({ text: `*${plain(title)}*\n${plain(text)}` });

function post(url: string, body: Buffer, headers: Record<string, string>, { outbound }: Deps): Promise<Undelivered | null> {
  return new Promise((resolve) => {
    let status = 0;
    let size = 0;
    const timeouts = { connect_ms: 5_000, first_byte_ms: timeoutMs, idle_ms: timeoutMs, total_ms: timeoutMs };
    const judge = () => {
      if (status >= 200 && status <= 299) return resolve(null);
      resolve({ error: `the receiver answered ${status}`, terminal: status >= 300 && status <= 499 && !passing.has(status) });
    };
    const call = outbound.send(
      { method: 'POST', url, headers, body, timeouts },
      {
        head: (code) => {
          status = code;
        },
        data: (chunk) => {
          size += chunk.length;
          // Whatever it goes on to say: its status is known.
          if (size > 65_536) call.abort('answer too large');
        },
        end: judge,
        error: (fault) => (status > 0 ? judge() : resolve({ error: `the receiver cannot be reached (${fault.detail ?? fault.class})`, terminal: false })),
      },
    );
  });
}

/** `To` and `From` were checked when they were stored; the library folds and encodes the rest of the headers. */
async function sendMail(channel: Channel, message: Outgoing, deps: Deps): Promise<Undelivered | null> {
  const { smtp, from, to } = channel;
  if (smtp === null || from === null) return { error: 'the channel has no mail server', terminal: true };
  const { host, port, security, username } = smtp;
  const password = open(channel, 'password', channel.sealed_password, deps);
  // Without its password a server might take the mail from anybody; that is not what was configured.
  if (username !== null && password === null && channel.sealed_password !== null)
    return { error: 'the password of the mail server cannot be opened', terminal: true };
  const recipients = [...new Set([...(message.content.only ? [] : to), ...(message.content.recipients ?? [])])];
  if (recipients.length === 0) return { error: 'nobody is to be told', terminal: true };
  const connection = openConnection({ host, port }, deps);
  const transport = createTransport({
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(username !== null && password !== null && { auth: { user: username, pass: password } }),
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket: (_options, callback) => {
      connection.opened.then(
        (socket) => callback(null, { connection: socket }),
        (error: Error) => callback(error),
      );
    },
  });
  let late: NodeJS.Timeout | undefined;
  // A server that goes on saying something, or a connection that is never made, would keep the alerts of this console waiting.
  const isLate = new Promise<never>((_resolve, reject) => {
    late = setTimeout(() => reject(Object.assign(new Error('too late'), { code: 'ETIMEDOUT' })), deps.mailMs ?? mailMs);
  });
  try {
    const { title, text } = message.content;
    const { rejected } = await Promise.race([
      transport.sendMail({
        from,
        to: recipients,
        subject: title,
        text,
        messageId: `<${message.id}@model-gateway>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      }),
      isLate,
    ]);
    if (rejected.length === 0) return null;
    return { error: `the mail server did not take it for ${rejected.map(addressOf).join(', ')}`, terminal: true, isPartial: true };
  } catch (error) {
    const { responseCode } = error as { responseCode?: number };
    return { error: `the mail server did not take it (${responseCode ?? reasonOf(error)})`, terminal: responseCode !== undefined && responseCode >= 500 };
  } finally {
    clearTimeout(late);
    transport.close();
    connection.close();
  }
}

/** A connection to a mail server; `close` ends it, also where it is not open yet. */
function openConnection(target: { host: string; port: number }, { outbound }: Deps) {
  let isOver = false;
  let open: Socket | undefined;
  const opened = new Promise<Socket>((resolve, reject) => {
    outbound.openSocket(target, (error, socket) => {
      if (error || !socket) return reject(error ?? new Error('not connected'));
      open = socket;
      if (isOver) socket.destroy();
      resolve(socket);
    });
  });
  opened.catch(() => {});
  return {
    opened,
    close() {
      isOver = true;
      open?.destroy();
    },
  };
}

const addressOf = (recipient: string | { address: string }): string => (typeof recipient === 'string' ? recipient : recipient.address);

/** The code of what failed first; never words, which may be the server's. */
function reasonOf(error: unknown): string {
  const { code, originalCode, cause } = error as { code?: string; originalCode?: string; cause?: { code?: string } };
  return originalCode ?? cause?.code ?? code ?? 'failed';
}
