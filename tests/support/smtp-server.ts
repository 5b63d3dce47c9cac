/** A mail server that takes everything and keeps what it took; with TLS and a password where it is asked to. */
import { createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

export interface ReceivedMail {
  from: string;
  to: string[];
  /** Head and body, as they came. */
  text: string;
  /** Whether it came over TLS. */
  secure: boolean;
  /** As whom the sender had signed in. */
  user: string | null;
}

export interface SmtpServer {
  port: number;
  mails: ReceivedMail[];
  /** Every line that came without TLS. */
  plainLines: string[];
  close(): Promise<void>;
}

export interface SmtpOptions {
  /** PEM. */
  tls?: { key: string; cert: string };
  /** `starttls`: offered after the greeting; `tls`: from the first byte. Both need `tls`. Default: neither. */
  security?: 'starttls' | 'tls';
  /** Mail is taken from this user alone. */
  login?: { user: string; password: string };
  /** Recipients that it knows nothing of. */
  unknown?: readonly string[];
}

export async function startSmtpServer(options: SmtpOptions = {}): Promise<SmtpServer> {
  const mails: ReceivedMail[] = [];
  const plainLines: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => {});
    const session = { options, mails, plainLines };
    if (options.security === 'tls') serve(secured(socket, options), session, true);
    else serve(socket, session, false);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    mails,
    plainLines,
    close() {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function secured(socket: Socket, { tls }: SmtpOptions): TLSSocket {
  const secure = new TLSSocket(socket, { isServer: true, ...tls });
  secure.on('error', () => {});
  return secure;
}

interface Session {
  options: SmtpOptions;
  mails: ReceivedMail[];
  plainLines: string[];
}

function serve(socket: Socket, session: Session, secure: boolean, greet = true): void {
  const { options, mails, plainLines } = session;
  const say = (line: string) => socket.write(`${line}\r\n`);
  let user: string | null = null;
  const blank = (): ReceivedMail => ({ from: '', to: [], text: '', secure, user });
  let mail = blank();
  let isData = false;
  let rest = '';
  if (greet) say('220 test ESMTP');
  const takeText = (line: string) => {
    if (line !== '.') {
      mail.text += `${line}\n`;
      return;
    }
    isData = false;
    mails.push(mail);
    mail = blank();
    say('250 taken');
  };
  const signIn = (line: string) => {
    const [, name = '', password = ''] = Buffer.from(line.replace(/^AUTH PLAIN /i, ''), 'base64')
      .toString('utf8')
      .split('\0');
    if (name !== options.login?.user || password !== options.login.password) return say('535 authentication failed');
    user = name;
    mail = blank();
    return say('235 welcome');
  };
  const greeting = () => {
    const offers = ['test', ...(options.security === 'starttls' && !secure ? ['STARTTLS'] : []), ...(options.login ? ['AUTH PLAIN'] : [])];
    for (const [at, offer] of offers.entries()) say(`250${at < offers.length - 1 ? '-' : ' '}${offer}`);
  };
  const startTls = () => {
    socket.removeAllListeners('data');
    say('220 go ahead');
    serve(secured(socket, options), session, true, false);
  };
  const take = (line: string) => {
    if (isData) return takeText(line);
    const inBrackets = /<([^>]*)>/.exec(line)?.[1] ?? '';
    if (/^(?:EHLO|HELO)/i.test(line)) greeting();
    else if (/^STARTTLS/i.test(line)) startTls();
    else if (/^AUTH PLAIN/i.test(line)) signIn(line);
    else if (/^MAIL/i.test(line) && options.login && user === null) say('530 sign in first');
    else if (/^MAIL/i.test(line)) {
      mail.from = inBrackets;
      say('250 ok');
    } else if (/^RCPT/i.test(line) && options.unknown?.includes(inBrackets)) say('550 no such mailbox');
    else if (/^RCPT/i.test(line)) {
      mail.to.push(inBrackets);
      say('250 ok');
    } else if (/^DATA/i.test(line)) {
      isData = true;
      say('354 go on');
    } else if (/^QUIT/i.test(line)) {
      say('221 bye');
      socket.end();
    } else say('250 ok');
  };
  socket.on('data', (chunk) => {
    rest += chunk.toString('utf8');
    const lines = rest.split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!secure) plainLines.push(line);
      take(line);
    }
  });
}
