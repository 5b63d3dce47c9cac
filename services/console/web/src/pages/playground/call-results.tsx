/** What a call was answered with: a picture to look at, a sound to play, words, vectors and ranks in tables. What comes from models is never markup. */
import { Alert, Anchor, Badge, Group, Stack, Table, Text } from '@mantine/core';
import type { PlaygroundRank, PlaygroundResult } from '@model-gateway/protocols/playground';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { formatBytes, formatNumber, formatPercent } from '../../components/format.ts';
import { Snippet } from '../../components/snippet.tsx';
import type { CallOutcome } from './make-call.ts';

interface Props {
  outcome: CallOutcome;
  /** The texts or documents that were sent, in their order. */
  sent: readonly string[];
}

export function CallResults({ outcome: { results, sound, refusal }, sent }: Props) {
  const { t } = useTranslation('playground');
  const vectors = results.filter((one) => one.kind === 'vector');
  if (refusal !== null)
    return (
      <Alert color="red" icon={<IconAlertTriangle aria-hidden />} role="alert">
        <Text size="sm" className="anywhere">
          {refusal}
        </Text>
      </Alert>
    );
  if (!sound && results.length === 0) return <Text c="dimmed">{t('nothingShown')}</Text>;
  return (
    <Stack role="region" aria-label={t('answer')}>
      {sound && <Sound sound={sound} />}
      {vectors.length > 0 && <Vectors vectors={vectors.map(({ values }) => values)} sent={sent} />}
      {results.map((result, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an answer is shown once and never reordered
        <Result key={place} result={result} sent={sent} />
      ))}
    </Stack>
  );
}

function Result({ result, sent }: { result: PlaygroundResult; sent: readonly string[] }) {
  const { t } = useTranslation('playground');
  switch (result.kind) {
    case 'picture':
      return (
        <img src={result.url} alt={t('picture')} style={{ maxWidth: '100%', maxHeight: 480, objectFit: 'contain', alignSelf: 'flex-start', borderRadius: 6 }} />
      );
    case 'link':
      return (
        <Text size="sm">
          {t('pictureElsewhere')}{' '}
          <Anchor href={result.url} target="_blank" rel="noreferrer noopener" className="anywhere">
            {result.url}
          </Anchor>
        </Text>
      );
    case 'text':
      return <Snippet title={t('words')} text={result.text} />;
    case 'ranks':
      return <Ranks ranks={result.ranks} sent={sent} />;
    case 'judgement':
      return <Judgement result={result} />;
    case 'vector':
      return null;
  }
}

function Sound({ sound: { url, type, bytes, name } }: { sound: NonNullable<CallOutcome['sound']> }) {
  const { t } = useTranslation('playground');
  return (
    <Stack gap={4}>
      {/* biome-ignore lint/a11y/useMediaCaption: its words are what was typed above */}
      <audio controls src={url} aria-label={t('sound')} style={{ width: '100%' }} />
      <Group gap="sm">
        <Text size="xs" c="dimmed" className="mono">
          {type} · {formatBytes(bytes)}
        </Text>
        <Anchor size="xs" href={url} download={name}>
          {t('download')}
        </Anchor>
      </Group>
    </Stack>
  );
}

const shownNumbers = 6;
const product = (one: readonly number[], other: readonly number[]): number => one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
const lengthOf = (vector: readonly number[]): number => Math.sqrt(product(vector, vector));

function Vectors({ vectors, sent }: { vectors: readonly (readonly number[])[]; sent: readonly string[] }) {
  const { t } = useTranslation('playground');
  const first = vectors[0] ?? [];
  const likeness = (vector: readonly number[]): number => product(first, vector) / (lengthOf(first) * lengthOf(vector) || 1);
  return (
    <Table.ScrollContainer minWidth={480}>
      <Table aria-label={t('vectors')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('aText')}</Table.Th>
            <Table.Th ta="right">{t('dimensions')}</Table.Th>
            <Table.Th ta="right">{t('likeness')}</Table.Th>
            <Table.Th>{t('beginning')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {vectors.map((vector, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the place is the text's
            <Table.Tr key={place}>
              <Table.Td className="anywhere">{sent[place] ?? `#${place}`}</Table.Td>
              <Table.Td ta="right">{formatNumber(vector.length)}</Table.Td>
              <Table.Td ta="right">{likeness(vector).toFixed(3)}</Table.Td>
              <Table.Td className="mono">
                {vector
                  .slice(0, shownNumbers)
                  .map((value) => value.toFixed(4))
                  .join(' ')}
                {vector.length > shownNumbers && ' …'}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Ranks({ ranks, sent }: { ranks: readonly PlaygroundRank[]; sent: readonly string[] }) {
  const { t } = useTranslation('playground');
  return (
    <Table aria-label={t('ranks')}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('rank')}</Table.Th>
          <Table.Th ta="right">{t('score')}</Table.Th>
          <Table.Th>{t('document')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {ranks.map(({ index, score }, place) => (
          <Table.Tr key={index}>
            <Table.Td>{place + 1}</Table.Td>
            <Table.Td ta="right">{score.toFixed(4)}</Table.Td>
            <Table.Td className="anywhere">{sent[index] ?? `#${index}`}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Judgement({ result: { flagged, categories } }: { result: Extract<PlaygroundResult, { kind: 'judgement' }> }) {
  const { t } = useTranslation('playground');
  return (
    <Stack gap="xs">
      <Badge color={flagged ? 'red' : 'green'} variant="light" tt="none">
        {t(flagged ? 'flagged' : 'notFlagged')}
      </Badge>
      <Table aria-label={t('judgement')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('category')}</Table.Th>
            <Table.Th>{t('judgement')}</Table.Th>
            <Table.Th ta="right">{t('score')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {categories.map(({ name, flagged: isFlagged, score }) => (
            <Table.Tr key={name}>
              <Table.Td className="mono">{name}</Table.Td>
              <Table.Td>{t(isFlagged ? 'flagged' : 'notFlagged')}</Table.Td>
              <Table.Td ta="right">{score === null ? '–' : formatPercent(score)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}
