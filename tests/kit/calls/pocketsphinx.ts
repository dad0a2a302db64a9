import { obtainFile } from "@parley/shared/testing/debian";

/** What the speech stand-in needs to hear. @throws one sentence that says what to do */
export async function obtainPocketSphinx(): Promise<void> {
  const machine = process.arch === "arm64" ? "aarch64" : "x86_64";
  await obtainFile(`/usr/lib/${machine}-linux-gnu/libpocketsphinx.so.3`, "libpocketsphinx3");
  await obtainFile("/usr/share/pocketsphinx/model/en-us/en-us.lm.bin", "pocketsphinx-en-us");
}
