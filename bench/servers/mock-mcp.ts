/** Many MCP servers of the revision 2026-07-28 behind one port: `/server-07/mcp` is one of them, with `--tools` tools. */
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { port: { type: 'string' }, tools: { type: 'string', default: '40' } } });

const subjects = ['invoices', 'calendar events', 'pull requests', 'support tickets', 'shipping labels', 'holiday requests', 'audit records', 'meeting rooms'];
const verbs = ['create', 'list', 'update', 'delete', 'archive'];
const inputSchema = {
  type: 'object',
  properties: { id: { type: 'string', description: 'Which one' }, due: { type: 'string', description: 'A date' }, notify: { type: 'boolean' } },
  required: ['id'],
};

const toolsOf = (server: string): object[] =>
  Array.from({ length: Number(values.tools) }, (_, at) => {
    const subject = subjects[at % subjects.length]!;
    const verb = verbs[Math.floor(at / subjects.length) % verbs.length]!;
    const round = Math.floor(at / (subjects.length * verbs.length));
    return {
      name: `${verb}_${subject.replaceAll(' ', '_')}${round === 0 ? '' : `_${round}`}`,
      description: `Use this to ${verb} ${subject} of department ${server}. It answers with what was done.`,
      inputSchema,
    };
  });

const cached = { resultType: 'complete', ttlMs: 60_000, cacheScope: 'public' };

createServer(async (request, response) => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const server = request.url?.split('/')[1] ?? '';
  const { id, method } = JSON.parse(Buffer.concat(pieces).toString('utf8') || '{}') as { id?: unknown; method?: string };
  const results: Record<string, object> = {
    'server/discover': { ...cached, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
    'tools/list': { ...cached, tools: toolsOf(server) },
    'tools/call': { resultType: 'complete', content: [{ type: 'text', text: 'done' }] },
  };
  const result = results[method ?? ''];
  const reply = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
  response.writeHead(result ? 200 : 404, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: id ?? null, ...reply }));
}).listen(Number(values.port), '127.0.0.1');
