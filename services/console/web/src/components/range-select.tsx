/** How far back to look. */
import { SegmentedControl } from '@mantine/core';
import { useTranslation } from 'react-i18next';

const hour = 3_600_000;
export const ranges = { '1h': hour, '24h': 24 * hour, '7d': 168 * hour, '30d': 720 * hour, '90d': 2160 * hour } as const;
export type Range = keyof typeof ranges;
export const isRange = (value: unknown): value is Range => typeof value === 'string' && Object.hasOwn(ranges, value);

export function RangeSelect({ value, onChange }: { value: Range | null; onChange: (range: Range) => void }) {
  const { t } = useTranslation('statistics');
  return (
    <div className="choices">
      <SegmentedControl
        aria-label={t('range')}
        // Of a stretch that a chart was zoomed to, none is chosen.
        value={value ?? ''}
        onChange={(next) => isRange(next) && onChange(next)}
        data={Object.keys(ranges).map((name) => ({ value: name, label: t(`ranges.${name}`) }))}
      />
    </div>
  );
}
