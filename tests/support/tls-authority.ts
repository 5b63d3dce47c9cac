/** An authority made by openssl, with certificates of servers and clients, as an operator would make them. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Issued {
  cert: string;
  key: string;
}

export interface Authority {
  /** Paths of PEM files. */
  ca: string;
  /** `names` as openssl writes them: `DNS:service.test,IP:127.0.0.1`. */
  issue(name: string, names?: string): Issued;
}

export interface TlsFolder {
  folder: string;
  authority(name: string): Authority;
  /** Puts the content of one file into another at once, as renewals do. */
  replace(target: string, source: string): void;
  remove(): void;
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export function createTlsFolder(): TlsFolder {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-tls-'));
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  return {
    folder,
    authority(authorityName) {
      const home = join(folder, authorityName);
      mkdirSync(home);
      const [ca, caKey] = [join(home, 'ca.pem'), join(home, 'ca.key')];
      openssl('req', '-x509', ...newKey, '-keyout', caKey, '-out', ca, '-subj', `/CN=${authorityName}`, '-days', '30');
      return {
        ca,
        issue(name, names = 'DNS:service.test,IP:127.0.0.1') {
          const [cert, key, request, extensions] = ['pem', 'key', 'csr', 'ext'].map((end) => join(home, `${name}.${end}`)) as [string, string, string, string];
          writeFileSync(extensions, `subjectAltName=${names}\n`);
          openssl('req', ...newKey, '-keyout', key, '-out', request, '-subj', `/CN=${name}`);
          openssl('x509', '-req', '-in', request, '-CA', ca, '-CAkey', caKey, '-CAcreateserial', '-out', cert, '-days', '30', '-extfile', extensions);
          return { cert, key };
        },
      };
    },
    replace(target, source) {
      execFileSync('cp', [source, `${target}.new`]);
      renameSync(`${target}.new`, target);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
