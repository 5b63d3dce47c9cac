/** An address as a QR code: dark on light in both colour schemes, as cameras expect it. */
import { Box } from '@mantine/core';
import { encode } from 'uqr';

const quiet = 4;

export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, data } = encode(text, { border: quiet });
  const path = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return (
    <Box w={176} style={{ flexShrink: 0 }}>
      <svg viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} width="100%" shapeRendering="crispEdges" style={{ display: 'block', borderRadius: 8 }}>
        <rect width={size} height={size} fill="#fff" />
        <path d={path} fill="#000" />
      </svg>
    </Box>
  );
}
