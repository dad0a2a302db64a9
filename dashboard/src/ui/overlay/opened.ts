/** What opens over a page. It shares most of its scripts, so it comes in one. */
export { OpenedDialog } from "./opened-dialog.tsx";
export { OpenedDrawer } from "./opened-drawer.tsx";
export { OpenedItem, OpenedLabel, OpenedLine, OpenedMenu } from "./opened-menu.tsx";
export { OpenedPopover } from "./opened-popover.tsx";
export { ToastCorner } from "./toast-corner.tsx";
