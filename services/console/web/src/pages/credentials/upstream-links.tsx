/** The upstreams that use a credential, each a way to it. */
import { Anchor, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';

export function Upstreams({ names }: { names: readonly string[] }) {
  if (names.length === 0) return <Text size="sm">–</Text>;
  return (
    <Group gap="xs">
      {names.map((name) => (
        <Anchor key={name} component={Link} to="/upstreams" search={{ edit: name } as never} size="sm" className="anywhere" onClick={stop}>
          {name}
        </Anchor>
      ))}
    </Group>
  );
}

/** The row's own click would open it. */
const stop = (event: React.MouseEvent): void => event.stopPropagation();
