/** A conversation with a model: settings, turns, and the next message. */
import { Card, Stack } from '@mantine/core';
import type { PlaygroundTool } from '@model-gateway/protocols/playground';
import { playgroundDialects } from '@model-gateway/protocols/playground';
import { Composer } from './composer.tsx';
import { Conversation } from './conversation.tsx';
import type { PlaygroundSettings } from './settings.tsx';
import type { usePlayground } from './use-playground.ts';

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

interface Props {
  model: string;
  settings: PlaygroundSettings;
  playground: ReturnType<typeof usePlayground>;
  draft: string;
  obstacle: string | null;
}

export function ConversationPanel({ model, settings, playground: { turns, busy, ask, stop, clear }, draft, obstacle }: Props) {
  const dialect = playgroundDialects.find(({ id }) => id === settings.dialectId) ?? playgroundDialects[0]!;
  return (
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
  );
}
