import { useNavigate, useSearch } from "@tanstack/react-router";
import { useShownFirst } from "../ui/painted.ts";

/** Whether a page asks for what a new item needs, as `?new=true` in its address says, and a function that changes it. */
export function useMaking(): [boolean, (making: boolean) => void] {
  const { new: isNew = false } = useSearch({ strict: false });
  const navigate = useNavigate();
  return useShownFirst<boolean>(isNew, (making) =>
    navigate({ to: ".", search: ((before: object) => ({ ...before, new: making || undefined })) as never }),
  );
}
