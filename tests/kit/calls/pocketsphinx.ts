import { obtain } from "@parley/testkit/programs/obtain";

/** The programs that the speech stand-in needs to understand speech. @throws one sentence that says what to do */
export async function obtainPocketSphinx(): Promise<void> {
  await obtain("pocketSphinx");
  await obtain("pocketSphinxModel");
}
