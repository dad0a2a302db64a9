import { Link } from "@tanstack/react-router";
import { ChevronLeft, Play } from "lucide-react";
import { Button } from "../../../../ui/button.tsx";
import { BACK_LINK, EditorFrame } from "../../../../ui/editor/editor-frame.tsx";
import { Sections } from "../../../../ui/form/section.tsx";
import type { Test } from "../queries.ts";
import { AboutSection } from "./about-section.tsx";
import { AssertionsSection } from "./assertions-section.tsx";
import type { TestDraft } from "./draft.ts";
import { TestMenu } from "./test-menu.tsx";
import { ToolsSection } from "./tools-section.tsx";
import { UserSection } from "./user-section.tsx";

/** A test in sections. @param test as it is stored; null for a new one */
export function TestEditor({ draft, agentId, test }: { draft: TestDraft; agentId: string; test: Test | null }) {
  return (
    <EditorFrame
      draft={draft}
      what="test"
      title={test?.name ?? "New test"}
      id={test?.test_id ?? null}
      back={
        <Link
          to="/agents/$agentId"
          params={{ agentId }}
          search={{ tab: "tests" }}
          aria-label="All tests of the agent"
          className={BACK_LINK}
        >
          <ChevronLeft className="size-5" aria-hidden />
        </Link>
      }
      actions={
        test && (
          <Button asChild>
            <Link to="/agents/$agentId" params={{ agentId }} search={{ tab: "tests", run: test.test_id }}>
              <Play aria-hidden /> Run
            </Link>
          </Button>
        )
      }
      menu={test && <TestMenu test={test} onLeave={draft.discard} />}
    >
      <Sections>
        <AboutSection draft={draft} agentId={agentId} />
        <UserSection draft={draft} agentId={agentId} />
        <ToolsSection draft={draft} />
        <AssertionsSection draft={draft} agentId={agentId} />
      </Sections>
    </EditorFrame>
  );
}
