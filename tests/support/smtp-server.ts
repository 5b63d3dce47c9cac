/** A mail server that takes everything, without TLS, and keeps what it took. */
import { createServer, type Socket } from 'node:net';

export interface ReceivedMail {
  from: string;
  to: string[];
  /** Head and body, as they came. */
  text: string;
}

export interface SmtpServer {
  port: number;
  mails: ReceivedMail[];
  close(): Promise<void>;
}

export async function startSmtpServer(): Promise<SmtpServer> {
  const mails: ReceivedMail[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => {});
    serve(socket, mails);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    mails,
    close() {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function serve(socket: Socket, mails: ReceivedMail[]): void {
  const say = (line: string) => socket.write(`${line}\r\n`);
  let mail: ReceivedMail = { from: '', to: [], text: '' };
  let isData = false;
  let rest = '';
  say('220 test ESMTP');
  const take = (line: string) => {
    if (isData) {
      if (line !== '.') {
        mail.text += `${line}\n`;
        return;
      }
      isData = false;
      mails.push(mail);
      mail = { from: '', to: [], text: '' };
      say('250 taken');
      return;
    }
    const inBrackets = /<([^>]*)>/.exec(line)?.[1] ?? '';
    if (/^(?:EHLO|HELO)/i.test(line)) say('250 test');
    else if (/^MAIL/i.test(line)) {
      mail.from = inBrackets;
      say('250 ok');
    } else if (/^RCPT/i.test(line)) {
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
    for (const line of lines) take(line);
  });
}
