/** The maximum number of open files and sockets of this process, read once: Node raises it to the hard limit at start. */

/** Where the system reports no limit. */
const unknown = 65_536;

let known: number | undefined;

/** The limit of file descriptors; 65,536 where there is none or it cannot be read. */
export function descriptorLimit(): number {
  known ??= readLimit();
  return known;
}

function readLimit(): number {
  // The types of Node do not know this setting yet.
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork: boolean };
  const before = report.excludeNetwork;
  // The report's network section is not needed, and its reverse look-ups take long.
  report.excludeNetwork = true;
  try {
    const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
    const soft = Number(userLimits?.open_files?.soft);
    return Number.isSafeInteger(soft) && soft > 0 ? soft : unknown;
  } finally {
    report.excludeNetwork = before;
  }
}
