import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { access, constants, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

import { Channel } from "./channel.js";

/** LocalOptions say which sidecar runs beside this process. */
export interface LocalOptions {
  /** The sidecar's program; by default that of PALIMPSEST_BINARY, or `palimpsest` or `sidecar` on the PATH. */
  binary?: string;
  /** The folder in which conversations are kept; by default they are gone with the sidecar. */
  dataDir?: string | undefined;
  /** Further flags of `sidecar serve`. */
  flags?: readonly string[];
  /** How long a call may take in all, its retries included: 10,000 by default. */
  timeoutMs?: number;
}

/** LocalSidecar is a sidecar that this process started, on a socket that only its user can reach. */
export interface LocalSidecar {
  readonly address: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const startMs = 20_000;
const stopMs = 10_000;

/** startLocal starts a sidecar and waits until it serves. */
export async function startLocal(options: LocalOptions): Promise<LocalSidecar> {
  const binary = await find(options.binary ?? process.env.PALIMPSEST_BINARY);
  const folder = await mkdtemp(join(tmpdir(), "palimpsest-")); // for its owner alone
  const address = `unix://${join(folder, "s.sock")}`;
  const store = options.dataDir === undefined ? ["--store", "memory"] : ["--store", "bolt", "--data-dir", options.dataDir];
  const child = spawn(binary, ["serve", "--until-stdin-ends", "--listen", address, ...store, ...(options.flags ?? [])], { stdio: ["pipe", "ignore", "pipe"] });
  const said = tail(child);
  const end = ended(child);
  const sweep = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", sweep);
  const stop = async () => {
    await terminate(child, end);
    process.off("exit", sweep);
    sweep();
  };
  const channel = new Channel(address, {});
  try {
    await Promise.race([channel.healthy(startMs), end.then((why) => Promise.reject(new Error(why)))]);
  } catch (thrown) {
    await stop();
    throw new Error([`${binary} does not serve: ${(thrown as Error).message}`, said()].filter(Boolean).join("\n"), { cause: thrown });
  } finally {
    channel.close();
  }
  // It runs for as long as this process, however that ends, and does not keep it alive.
  for (const handle of [child, child.stdin, child.stderr]) (handle as unknown as { unref(): void }).unref();
  return { address, pid: child.pid!, stop };
}

/** find is the program that is named, or the first on the PATH. */
async function find(named: string | undefined): Promise<string> {
  if (named) return named;
  for (const folder of (process.env.PATH ?? "").split(delimiter).filter(Boolean)) {
    for (const name of ["palimpsest", "sidecar"]) {
      const file = join(folder, name);
      if (await access(file, constants.X_OK).then(() => true, () => false)) return file;
    }
  }
  throw new Error("no sidecar is on the PATH: name its binary, or set PALIMPSEST_BINARY");
}

/** tail gives the last lines that the process has logged. */
function tail(child: ChildProcess): () => string {
  let last = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => { last = (last + text).slice(-2000); });
  return () => last.trim();
}

/** ended resolves with how the process ended. */
function ended(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(`it ended with ${signal ?? code}`));
  });
}

async function terminate(child: ChildProcess, end: Promise<string>): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), stopMs);
  await Promise.race([end, once(child, "exit")]);
  clearTimeout(timer);
}
