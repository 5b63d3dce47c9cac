/** The time, for pages that stay open: a new day and a new month begin on them, too. */
import { useEffect, useState } from 'react';

const everyMs = 60_000;

/** Milliseconds since the epoch, a minute old at most. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}
