/** How many files and sockets this process may have open, read once: Node asks the system for all that it may have when it starts. */

/** Where the system tells no limit. */
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
  // The names of the machine's interfaces are of no interest here, and looking them up takes long.
  report.excludeNetwork = true;
  try {
    const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
    const soft = Number(userLimits?.open_files?.soft);
    return Number.isSafeInteger(soft) && soft > 0 ? soft : unknown;
  } finally {
    report.excludeNetwork = before;
  }
}
