/** The body that a script or rules are tried on, with samples to begin with. */
import { Select, Stack } from '@mantine/core';
import { playgroundDialects } from '@model-gateway/protocols/playground';
import { useTranslation } from 'react-i18next';
import { CodeEditor } from '../../components/code-editor.tsx';
import { useProtocolName } from '../../components/protocol.tsx';
import { type RecentBody, RecentSample } from './recent-sample.tsx';
import { readSampleKey, type Sample, type SampleKind, sampleKey, sampleText } from './samples.ts';

interface Props {
  kinds: readonly SampleKind[];
  sample: Sample;
  /** With the text of the sample. */
  onSample: (sample: Sample, text: string) => void;
  onRecent: (body: RecentBody) => void;
  value: string;
  onChange: (text: string) => void;
  isFaulty: boolean;
}

export function BodyEditor({ kinds, sample, onSample, onRecent, value, onChange, isFaulty }: Props) {
  const { t } = useTranslation('studio');
  const nameOf = useProtocolName();
  const data = playgroundDialects.map(({ id }) => ({
    group: nameOf(id),
    items: kinds.map((kind) => ({ value: sampleKey({ protocol: id, kind }), label: `${nameOf(id)}: ${t(`samples.${kind}`)}` })),
  }));
  return (
    <Stack gap="sm">
      <Select
        label={t('sample')}
        description={t('sampleHint')}
        data={data}
        allowDeselect={false}
        value={sampleKey(sample)}
        onChange={(key) => {
          if (!key) return;
          const chosen = readSampleKey(key);
          onSample(chosen, sampleText(chosen));
        }}
      />
      <RecentSample part={kinds.includes('reply') ? 'response' : 'request'} onChoose={onRecent} />
      <CodeEditor
        language="json"
        label={t('body')}
        minHeight="260px"
        maxHeight="420px"
        value={value}
        onChange={onChange}
        error={isFaulty ? t('notObject') : undefined}
      />
    </Stack>
  );
}
