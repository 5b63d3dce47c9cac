/** The same request again from a shell: with its stored body, or with the like where there is none. */
import { Alert, Text } from '@mantine/core';
import type { RequestBodies } from '@model-gateway/contracts';
import { type PlaygroundDialect, playgroundDialects } from '@model-gateway/protocols/playground';
import { useTranslation } from 'react-i18next';
import type { LogRow } from '../../api/stats.ts';
import { Snippet } from '../../components/snippet.tsx';
import { isComplete } from './body-view.ts';

export function Replay({ row, bodies }: { row: LogRow; bodies: RequestBodies | undefined }) {
  const { t } = useTranslation('logs');
  const dialect = playgroundDialects.find(({ id }) => id === row.client_protocol);
  if (bodies && isComplete(bodies.request))
    return <Snippet title={t('replayBody')} text={curl(location.origin + bodies.path, dialect, bodies.request.text)} maxHeight={240} />;
  if (!dialect) return <Alert color="gray">{t('noReplay')}</Alert>;
  if (!row.requested_model) return <Alert color="gray">{t('noReplayModel')}</Alert>;
  const request = sampleOf(row, row.requested_model);
  return (
    <div>
      {bodies && (
        <Text size="sm" c="dimmed" mb={4}>
          {t('replayCut')}
        </Text>
      )}
      <Snippet title={t('replay')} text={curl(location.origin + dialect.path(request), dialect, JSON.stringify(dialect.body(request)))} />
    </div>
  );
}

const sampleOf = (row: LogRow, model: string) => ({
  model,
  system: '',
  turns: [{ role: 'user' as const, text: 'Say hello.', images: [] }],
  tools: [],
  maxTokens: 256,
  temperature: null,
  stream: row.stream,
});

/** Whatever a caller wrote stays one word of the shell's. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function curl(url: string, dialect: PlaygroundDialect | undefined, body: string): string {
  // The body is taken as it is: `@` at its beginning would be read as a file's name by `-d`.
  const headers = { 'content-type': 'application/json', ...(dialect?.headers('$GATEWAY_KEY') ?? { authorization: 'Bearer $GATEWAY_KEY' }) };
  return [`curl -N ${quoted(url)}`, ...Object.entries(headers).map(([name, value]) => `  -H "${name}: ${value}"`), `  --data-raw ${quoted(body)}`].join(
    ' \\\n',
  );
}
