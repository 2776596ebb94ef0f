// Draws the answer once for each version of it, and tells which sentence, citation or mark was opened.
// What is opened is drawn elsewhere: no letter of the answer moves.
export default function ({ data, parentElement, setTriggerValue }) {
  let pane = parentElement.querySelector(".answer-pane")
  if (!pane) {
    pane = document.createElement("div")
    pane.className = "ts answer-pane"
    parentElement.append(pane)
    pane.addEventListener("click", (event) => {
      const target = event.target.closest("[data-see]")
      if (!target || (target.tagName !== "BUTTON" && String(getSelection()))) return
      pane.tell(target.dataset.see)
    })
    pane.addEventListener("keydown", (event) => {
      if (![" ", "Enter"].includes(event.key) || !event.target.matches("[role=button]")) return
      event.preventDefault()  // or the page would scroll by a window
      pane.tell(event.target.dataset.see)
    })
    // who comes back from a stored page, or from the evidence on a narrow window, sees the sentence again
    let isShown = false
    new ResizeObserver(() => {
      if (isShown === pane.offsetWidth > 0 || !pane.isConnected) return
      isShown = !isShown
      const [place, block] = isShown ? [".answer-pane .sentence.chosen", "center"] : [".st-key-pane-evidence", "start"]
      const seen = document.querySelector(place)  // what is opened a moment later is acted on where it is
      setTimeout(() => seen?.scrollIntoView({ block }), 200)
    }).observe(pane)
  }
  pane.tell = (see) => setTriggerValue("see", see)
  if (pane.dataset.version !== data.version) {
    const focused = document.activeElement?.closest?.(".answer-pane [data-see]")?.dataset.see
    pane.innerHTML = data.html
    pane.dataset.version = data.version
    if (focused) pane.querySelector(`button[data-see="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true })
  }
  const sentence = data.see.split("-")[0]
  for (const one of pane.querySelectorAll("[data-see]")) {
    const isChosen = one.dataset.see === data.see || (one.tagName !== "BUTTON" && one.dataset.see === sentence)
    one.classList.toggle("chosen", isChosen)
    if (one.matches("button, [role=button]")) one.setAttribute("aria-expanded", String(isChosen))
  }
  if (window.touchstoneEscape) return
  window.touchstoneEscape = true
  const ABOVE = ":is([role=dialog], [role=listbox], [role=menu], [data-testid=stPopoverBody])"  // it closes alone
  const OPENED = ".answer-pane :is(button.chosen, .chosen[tabindex], .chosen + .cites button)"
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.target.closest?.("textarea, input")) return
    const isCovered = [...document.querySelectorAll(ABOVE)].some((one) => one.checkVisibility())
    const close = document.querySelector(".st-key-evidence-close button")
    if (isCovered || !close) return
    if (!event.target.closest?.(".answer-pane")) document.querySelector(OPENED)?.focus({ preventScroll: true })
    close.click()
  }, true)
}
