/** The first calls of somebody who has just installed the chart: as the notes say, and through a vendor's SDK. */
import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import OpenAI from 'openai';
import { accessKey } from '../containers/traffic.ts';
import { freePort } from '../support/free-port.ts';
import type { Cluster } from './cluster.ts';

const run = promisify(execFile);

/** Text that the official SDK read from a stream. */
export async function callThroughSdk(cluster: Cluster): Promise<string> {
  const client = new OpenAI({ baseURL: `${cluster.url}/v1`, apiKey: accessKey });
  let text = '';
  for await (const chunk of await client.chat.completions.create({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hello' }] }))
    text += chunk.choices[0]?.delta.content ?? '';
  return text;
}

/**
 * Runs the commands of the notes as they are printed, but for the provider and its key, which are this run's upstream's, and the local port. Gives the last command's output.
 * Throws where there are fewer commands than the notes promise, or one of them fails.
 */
export async function followNotes(cluster: Cluster): Promise<string> {
  const port = await freePort();
  const commands = (await cluster.notes())
    .split('\n')
    .filter((line) => /^ {3}(kubectl|curl|[A-Z]+=\$\()/.test(line))
    .map((line) =>
      line
        .trim()
        .replaceAll('127.0.0.1:7890', `127.0.0.1:${port}`)
        .replace(' 7890:', ` ${port}:`)
        .replace('https://api.openai.com', cluster.upstreamUrl)
        .replace('sk-…', 'sk-upstream'),
    );
  const [forward = '', ...rest] = commands;
  if (rest.length !== 5 || !forward.includes('port-forward')) throw new Error(`the notes have other commands than expected:\n${commands.join('\n')}`);
  const forwarding = spawn('sh', ['-c', `exec ${forward}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await new Promise((resolve, reject) => {
      forwarding.stdout.once('data', resolve);
      forwarding.once('exit', () => reject(new Error('port-forward ended at once')));
    });
    // The last command prints the console's password.
    const script = `set -e\n${rest.slice(0, -1).join('\n')}\necho\n${rest.at(-1)} | grep -q .`;
    return (await run('sh', ['-c', script], { timeout: 120_000 })).stdout;
  } finally {
    forwarding.kill();
  }
}
