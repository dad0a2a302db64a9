import { obtain } from "@parley/shared/testing/programs";

/** What the speech stand-in needs to hear. @throws one sentence that says what to do */
export async function obtainPocketSphinx(): Promise<void> {
  await obtain("pocketSphinx");
  await obtain("pocketSphinxModel");
}
