/** Talk to a model through any client protocol, and look at what was sent and received. */
import { Card, Grid, Stack } from '@mantine/core';
import { type PlaygroundTool, playgroundDialects } from '@model-gateway/protocols/playground';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useGrantedNames } from '../../api/use-catalog.ts';
import { Page } from '../../components/page.tsx';
import { useIsAdmin } from '../../session/use-me.ts';
import { Composer } from './composer.tsx';
import { Conversation } from './conversation.tsx';
import { Inspector } from './inspector.tsx';
import { defaultSettings, type PlaygroundSettings, Settings } from './settings.tsx';
import { usePlayground } from './use-playground.ts';
import { useStoredRequest } from './use-stored-request.ts';

/** Something that most models want to call when asked about the weather. */
const sampleTool: PlaygroundTool = {
  name: 'get_weather',
  description: 'The current weather of a place.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string', description: 'Name of the city' }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
    required: ['city'],
  },
};

export function PlaygroundPage() {
  const { t } = useTranslation('playground');
  const isAdmin = useIsAdmin();
  const { model: asked, protocol: spoken } = useSearch({ strict: false }) as { model?: unknown; protocol?: unknown };
  const [settings, setSettings] = useState<PlaygroundSettings>({
    ...defaultSettings,
    model: typeof asked === 'string' ? asked : '',
    dialectId: (playgroundDialects.find(({ id }) => id === spoken) ?? playgroundDialects[0]!).id,
  });
  const names = useGrantedNames(settings.keyName);
  const { turns, record, busy, ask, stop, clear, begin } = usePlayground();
  const [draft, setDraft] = useState('');
  useStoredRequest(({ system, turns: earlier, maxTokens, temperature }) => {
    setSettings((known) => ({ ...known, system, maxTokens: maxTokens ?? known.maxTokens, temperature: temperature ?? '' }));
    // What was asked last is there to be asked again.
    const last = earlier.at(-1);
    begin(last?.role === 'user' ? earlier.slice(0, -1) : earlier);
    setDraft(last?.role === 'user' ? last.text : '');
  });
  const dialect = playgroundDialects.find(({ id }) => id === settings.dialectId) ?? playgroundDialects[0]!;
  const model = settings.model || (names[0] ?? '');
  const obstacle = !isAdmin ? t('adminsOnly') : model === '' ? t('noModel') : null;

  return (
    <Page title={t('title')} hint={t('hint')}>
      <Grid>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack>
            <Card withBorder>
              <Settings value={{ ...settings, model }} onChange={(change) => setSettings((known) => ({ ...known, ...change }))} names={[...new Set(names)]} />
            </Card>
            <Card withBorder>
              <Stack>
                <Conversation turns={turns} busy={busy} />
                <Composer
                  key={draft}
                  draft={draft}
                  busy={busy}
                  obstacle={obstacle}
                  onStop={stop}
                  onClear={clear}
                  onSend={(text, images) =>
                    ask({
                      dialect,
                      keyName: settings.keyName,
                      settings: {
                        model,
                        system: settings.system,
                        tools: settings.withTools ? [sampleTool] : [],
                        maxTokens: settings.maxTokens,
                        temperature: settings.temperature === '' ? null : settings.temperature,
                        stream: settings.stream,
                      },
                      text,
                      images,
                    })
                  }
                />
              </Stack>
            </Card>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Card withBorder>
            <Inspector record={record} viaKey={settings.keyName !== null} />
          </Card>
        </Grid.Col>
      </Grid>
    </Page>
  );
}
