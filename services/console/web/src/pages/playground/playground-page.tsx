/** Ask a model for whatever it serves, through any client protocol, and look at what was sent and received. */
import { Card, Grid, Stack } from '@mantine/core';
import { playgroundCalls, playgroundDialects } from '@model-gateway/protocols/playground';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useGrantedNames } from '../../api/use-catalog.ts';
import { Page } from '../../components/page.tsx';
import { useKept } from '../../components/use-kept.ts';
import { useIsAdmin } from '../../session/use-me.ts';
import { CallPanel } from './call-panel.tsx';
import { CallTarget } from './call-target.tsx';
import { ConversationPanel } from './conversation-panel.tsx';
import { Inspector } from './inspector.tsx';
import { FrameList } from './realtime/frame-list.tsx';
import { RealtimePanel } from './realtime/realtime-panel.tsx';
import type { CallRecord } from './run-call.ts';
import { ConversationOptions, DialectSelect, defaultSettings, type PlaygroundSettings } from './settings.tsx';
import { type PlaygroundOperation, session, useOperations } from './use-operations.ts';
import { usePlayground } from './use-playground.ts';
import { useStoredRequest } from './use-stored-request.ts';

export function PlaygroundPage() {
  const { t } = useTranslation('playground');
  const isAdmin = useIsAdmin();
  const { model: asked, protocol: spoken } = useSearch({ strict: false }) as { model?: unknown; protocol?: unknown };
  const [settings, setSettings, restored] = useKept<PlaygroundSettings>('playground settings', {
    ...defaultSettings,
    model: typeof asked === 'string' ? asked : '',
    dialectId: (playgroundDialects.find(({ id }) => id === spoken) ?? playgroundDialects[0]!).id,
  });
  const change = (changed: Partial<PlaygroundSettings>) => setSettings((known) => ({ ...known, ...changed }));
  const [chosen, setChosen] = useKept<PlaygroundOperation | null>('playground operation', null);
  const [answered, setAnswered] = useState<CallRecord | null>(null);
  const [draft, setDraft] = useState('');
  const names = [...new Set(useGrantedNames(settings.keyName))];
  const playground = usePlayground('playground turns');
  useStoredRequest(restored, ({ system, turns: earlier, maxTokens, temperature }) => {
    setSettings((known) => ({ ...known, system, maxTokens: maxTokens ?? known.maxTokens, temperature: temperature ?? '' }));
    // What was asked last is there to be asked again.
    const last = earlier.at(-1);
    playground.begin(last?.role === 'user' ? earlier.slice(0, -1) : earlier);
    setDraft(last?.role === 'user' ? last.text : '');
  });
  const model = settings.model || (names[0] ?? '');
  const operations = useOperations(model, names.includes(model));
  const operation = operations.find((one) => one === chosen) ?? operations[0]!;
  const call = playgroundCalls.find((one) => one.operation === operation);
  const isSession = operation === session;
  const target = { operation, model, keyName: settings.keyName };
  const obstacle = !isAdmin ? t('adminsOnly') : model === '' ? t('noModel') : null;

  const about = (
    <Card withBorder>
      <CallTarget
        value={target}
        onChange={({ operation: changed, ...more }) => {
          if (changed) setChosen(changed);
          change(more);
        }}
        names={names}
        operations={operations}
      >
        {!call && !isSession && <DialectSelect value={settings.dialectId} onChange={(dialectId) => change({ dialectId })} />}
      </CallTarget>
      {!call && !isSession && <ConversationOptions value={settings} onChange={change} />}
    </Card>
  );
  if (isSession)
    return (
      <Page title={t('title')} hint={t('hint')}>
        <Stack>
          {about}
          <RealtimePanel key={model} model={model} keyName={settings.keyName} obstacle={obstacle}>
            {(frames) => (
              <Card withBorder>
                <FrameList frames={frames} />
              </Card>
            )}
          </RealtimePanel>
        </Stack>
      </Page>
    );
  return (
    <Page title={t('title')} hint={t('hint')}>
      <Grid>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack>
            {about}
            {call ? (
              <CallPanel key={operation} call={call} model={model} keyName={settings.keyName} obstacle={obstacle} onRecord={setAnswered} />
            ) : (
              <ConversationPanel model={model} settings={settings} playground={playground} draft={draft} obstacle={obstacle} />
            )}
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Card withBorder>
            <Inspector record={call ? answered : playground.record} viaKey={settings.keyName !== null} />
          </Card>
        </Grid.Col>
      </Grid>
    </Page>
  );
}
