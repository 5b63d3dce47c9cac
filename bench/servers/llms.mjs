// Starts the peer @musistudio/llms from its folder: `llms.mjs FOLDER PORT UPSTREAM`, an Anthropic-shaped endpoint in front of an OpenAI-shaped upstream.
import { createRequire } from 'node:module';

const [folder, port, upstream] = process.argv.slice(2);
const { default: Server } = createRequire(`${folder}/`)('@musistudio/llms');
const server = new Server({
  logger: false,
  useJsonFile: false,
  useEnvFile: false,
  initialConfig: {
    HOST: '127.0.0.1',
    PORT: Number(port),
    providers: [{ name: 'mock', api_base_url: `${upstream}/v1/chat/completions`, api_key: 'sk-mock', models: ['gpt-4o'], transformer: { use: [] } }],
  },
});
await server.start();
