/** How the playground holds a conversation: the protocol, and the usual knobs. */
import { Accordion, NumberInput, SimpleGrid, Switch, Textarea } from '@mantine/core';
import { playgroundDialects } from '@model-gateway/protocols/playground';
import { useTranslation } from 'react-i18next';
import { ProtocolSelect } from '../../components/protocol.tsx';

export interface PlaygroundSettings {
  dialectId: string;
  model: string;
  keyName: string | null;
  system: string;
  maxTokens: number;
  /** '' leaves it to the model. */
  temperature: number | '';
  stream: boolean;
  withTools: boolean;
}

export const defaultSettings: PlaygroundSettings = {
  dialectId: playgroundDialects[0]!.id,
  model: '',
  keyName: null,
  system: '',
  maxTokens: 1024,
  temperature: '',
  stream: true,
  withTools: false,
};

interface Props {
  value: PlaygroundSettings;
  onChange: (change: Partial<PlaygroundSettings>) => void;
}

export function DialectSelect({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const { t } = useTranslation('playground');
  return (
    <ProtocolSelect
      label={t('protocol')}
      allowDeselect={false}
      protocols={playgroundDialects.map(({ id }) => id)}
      value={value}
      onChange={(id) => id && onChange(id)}
    />
  );
}

export function ConversationOptions({ value, onChange }: Props) {
  const { t } = useTranslation('playground');
  return (
    <Accordion variant="separated" mt="sm">
      <Accordion.Item value="options">
        <Accordion.Control>{t('options')}</Accordion.Control>
        <Accordion.Panel>
          <Textarea
            label={t('system')}
            autosize
            minRows={2}
            maxRows={8}
            value={value.system}
            onChange={(event) => onChange({ system: event.currentTarget.value })}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }} mt="sm">
            <NumberInput
              label={t('maxTokens')}
              min={1}
              allowDecimal={false}
              value={value.maxTokens}
              onChange={(maxTokens) => onChange({ maxTokens: Number(maxTokens) || defaultSettings.maxTokens })}
            />
            <NumberInput
              label={t('temperature')}
              placeholder={t('modelsOwn')}
              min={0}
              max={2}
              step={0.1}
              value={value.temperature}
              onChange={(temperature) => onChange({ temperature: temperature === '' ? '' : Number(temperature) })}
            />
            <Switch label={t('stream')} checked={value.stream} onChange={(event) => onChange({ stream: event.currentTarget.checked })} />
            <Switch
              label={t('withTools')}
              description={t('withToolsHint')}
              checked={value.withTools}
              onChange={(event) => onChange({ withTools: event.currentTarget.checked })}
            />
          </SimpleGrid>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}
