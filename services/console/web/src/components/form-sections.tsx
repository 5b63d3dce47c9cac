/** The seldom needed parts of a form, folded; a part with a fault opens by itself, so that no fault is hidden. */
import { Accordion, Stack } from '@mantine/core';
import type { FormErrors } from '@mantine/form';
import { type ReactNode, useEffect, useState } from 'react';
import { Editable } from './editable.tsx';

/** A collapsible section of a form. */
export interface FormSection {
  id: string;
  title: string;
  /** Names of the form's fields in this section. */
  fields: readonly string[];
  content: ReactNode;
}

export function FormSections({ sections, errors }: { sections: readonly FormSection[]; errors: FormErrors }) {
  const [open, setOpen] = useState<string[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the sections hold does not change; new faults open them
  useEffect(() => {
    const faulty = Object.keys(errors).map((field) => field.split('.')[0] ?? field);
    const wanted = sections.filter(({ fields }) => fields.some((field) => faulty.includes(field))).map(({ id }) => id);
    if (wanted.length > 0) setOpen((known) => [...new Set([...known, ...wanted])]);
  }, [errors]);
  return (
    <Accordion multiple variant="separated" value={open} onChange={setOpen}>
      {sections.map(({ id, title, content }) => (
        <Accordion.Item key={id} value={id}>
          <Accordion.Control>{title}</Accordion.Control>
          <Accordion.Panel>
            <Editable>
              <Stack gap="sm">{content}</Stack>
            </Editable>
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}
