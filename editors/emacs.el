;;; ilo in Emacs: put this into your init file, or load it from there.  -*- lexical-binding: t -*-
;; It needs eglot, which Emacs 29 has; before, it is a package.  `ilo-asm' must be in PATH.

(require 'eglot)

(defvar ilo-path "ilo-asm" "The program `ilo-asm'.")

(define-derived-mode ilo-mode prog-mode "ilo"
  "Programs of ilo in ID text."
  (setq-local comment-start "; ")
  (setq-local comment-start-skip ";+ *")
  (setq-local font-lock-defaults
              '((("^;.*$" . font-lock-comment-face)
                 ("\"\\(?:[^\"\\\\\n]\\|\\\\.\\)*\"" . font-lock-string-face)
                 ("\\_<[A-Z][A-Z_]+\\_>" . font-lock-keyword-face))
                t)))

(add-to-list 'auto-mode-alist '("\\.ilo\\'" . ilo-mode))
;; Of JSON and YAML the server picks the programs, and is silent about the rest.
(add-to-list 'eglot-server-programs
             (cons '(ilo-mode json-mode js-json-mode yaml-mode) (lambda (&rest _) (list ilo-path "lsp"))))
(add-hook 'ilo-mode-hook #'eglot-ensure)
