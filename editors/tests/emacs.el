;;; Real Emacs with eglot and the real server: diagnostics, hover, a fix, layout.  -*- lexical-binding: t -*-

(defun check (what condition found)
  (unless condition
    (message "emacs: %s: %S" what found)
    (kill-emacs 1)))

(defun wait (what condition)
  (let ((until (+ (float-time) 30)))
    (while (and (not (funcall condition)) (< (float-time) until))
      (accept-process-output nil 0.05))
    (check what (funcall condition) "no answer in time")))

(setq ilo-path (or (getenv "ILO_ASM") "ilo-asm"))
(remove-hook 'ilo-mode-hook #'eglot-ensure)

(let* ((folder (make-temp-file "ilo" t))
       (file (expand-file-name "a.ilo" folder)))
  (with-temp-file file
    (insert "; fn f(id: String) -> any\n; Vars: 0=id 1=user\nLET 1 REF 0\n   RET REF 1\n"))
  (find-file file)
  (check "mode" (eq major-mode 'ilo-mode) major-mode)
  (let (shown)
    (advice-add 'eglot-handle-notification :before
                (lambda (_server method &rest params)
                  (when (eq method 'textDocument/publishDiagnostics)
                    (setq shown (append (plist-get params :diagnostics) nil)))))
    (apply #'eglot--connect (eglot--guess-contact))
    (wait "a server" (lambda () (eglot-current-server)))
    (wait "diagnostics" (lambda () shown))
    (check "diagnostic" (equal (plist-get (car shown) :code) "type-synonym") shown)
    (let* ((server (eglot-current-server))
           (document (eglot--TextDocumentIdentifier))
           (hover (jsonrpc-request server :textDocument/hover
                                   (list :textDocument document :position '(:line 2 :character 4))))
           (value (plist-get (plist-get hover :contents) :value)))
      (check "hover" (string-match-p "user" value) hover)
      (let* ((range '(:start (:line 0 :character 0) :end (:line 1 :character 0)))
             (actions (jsonrpc-request server :textDocument/codeAction
                                       (list :textDocument document :range range :context '(:diagnostics [])))))
        (eglot--apply-workspace-edit (plist-get (aref actions 0) :edit)))
      (goto-char (point-min))
      (check "fix" (looking-at "; fn f(id: text) -> any$") (buffer-string))
      (eglot--signal-textDocument/didChange)
      (eglot-format-buffer)
      (goto-char (point-max))
      (forward-line -1)
      (check "layout" (looking-at "RET REF 1$") (buffer-string)))
    (message "emacs: diagnostics, hover, a fix and layout work")))
(set-buffer-modified-p nil)
(kill-emacs 0)
